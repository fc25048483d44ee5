package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// lags are how long it takes from before a change at the leader until a diagnosis says so: medians.
type lags struct {
	task, node time.Duration
	// taskLook and nodeLook are how much of it the engine took.
	taskLook, nodeLook time.Duration
	// longest is the longest of all.
	longest time.Duration
}

const (
	// rest is how long nothing must have changed before the next, so that none waits for another's.
	rest = 150 * time.Millisecond
	// late is when an event is lost.
	late = 10 * time.Second
)

// measureEvents removes a task that waits, and puts a node into the zone that others wait for, and looks for the diagnosis that says so, with an engine that has seen
// the state before, trials times each. The agent's own pause between two looks is no part of it.
func measureEvents(ctx context.Context, l *leader, f *follower, trials int) (lags, error) {
	engine := analyzer.NewEngine(analyzer.Patience{})
	active := slices.Collect(activeNodes(f.store.Snapshot()))
	var result lags
	var ofTasks, ofNodes, taskLooks, nodeLooks []time.Duration
	for i := range trials {
		before, err := calm(ctx, f, engine)
		if err != nil {
			return lags{}, err
		}
		service := stuckName(i % groups)
		task := judged(before, service)
		lag, look, after, err := lagOf(ctx, l, f, engine, []string{"remove", task}, func(s *collector.State) bool { return s.Task(task) == nil })
		if err != nil {
			return lags{}, err
		}
		if judged(after, service) == task {
			return lags{}, fmt.Errorf("the diagnosis of %s still speaks of task %s", service, task)
		}
		ofTasks, taskLooks = append(ofTasks, lag), append(taskLooks, look)

		if before, err = calm(ctx, f, engine); err != nil {
			return lags{}, err
		}
		node := active[i]
		lag, look, after, err = lagOf(ctx, l, f, engine, []string{"zone", node.ID, foreignZone},
			func(s *collector.State) bool { return s.Node(node.ID).Spec.Annotations.Labels["zone"] == foreignZone })
		if err != nil {
			return lags{}, err
		}
		if cmp.Equal(diagnosisOf(before, zoned).Nodes, diagnosisOf(after, zoned).Nodes) {
			return lags{}, fmt.Errorf("the diagnosis of %s does not tell that %s changed", zoned, node.Description.Hostname)
		}
		ofNodes, nodeLooks = append(ofNodes, lag), append(nodeLooks, look)
	}
	result.task, result.node = median(ofTasks), median(ofNodes)
	result.taskLook, result.nodeLook = median(taskLooks), median(nodeLooks)
	result.longest = max(ofTasks[trials-1], ofNodes[trials-1])
	return result, nil
}

// calm waits until what the change before has led to is over: the task that was removed has a successor, which waits, and nothing
// has changed for a while. It returns what the engine says then.
func calm(ctx context.Context, f *follower, engine *analyzer.Engine) (analyzer.Result, error) {
	for end := time.Now().Add(late); ; {
		changed := f.store.Changed()
		if err := sleep(ctx, rest); err != nil {
			return analyzer.Result{}, err
		}
		waiting, state := 0, f.store.Snapshot()
		for i := range groups {
			for t := range state.TasksOf(state.ServiceNamed(stuckName(i)).ID) {
				if t.Status.State == api.TaskStatePending {
					waiting++
				}
			}
		}
		select {
		case <-changed:
		default:
			if waiting == groups*waitingPerGroup {
				return engine.Analyze(state, time.Now()), nil
			}
		}
		if time.Now().After(end) {
			return analyzer.Result{}, fmt.Errorf("%d tasks wait: not %d and nothing that changes for %v within %v", waiting, groups*waitingPerGroup, rest, late)
		}
	}
}

// lagOf has the leader change something, and returns how long it took until the engine had seen it, how much of that was the
// engine's last look, and what that found.
func lagOf(ctx context.Context, l *leader, f *follower, engine *analyzer.Engine, change []string, seen func(*collector.State) bool) (lag, look time.Duration, result analyzer.Result, err error) {
	changed := f.store.Changed()
	began := time.Now()
	if _, err := l.ask(change...); err != nil {
		return 0, 0, result, err
	}
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, 0, result, ctx.Err()
		case <-time.After(late):
			return 0, 0, result, fmt.Errorf("%v: not seen within %v", change, late)
		}
		changed = f.store.Changed()
		state, looked := f.store.Snapshot(), time.Now()
		result = engine.Analyze(state, looked)
		if seen(state) {
			return time.Since(began), time.Since(looked), result, nil
		}
	}
}

func activeNodes(state *collector.State) iter.Seq[*api.Node] {
	return func(yield func(*api.Node) bool) {
		for n := range state.Nodes() {
			if takes(n) && n.Spec.Annotations.Labels["tier"] == "app" && n.ManagerStatus == nil && !yield(n) {
				return
			}
		}
	}
}

// judged is the task whose matrix a service's diagnosis shows.
func judged(result analyzer.Result, service string) string {
	d := diagnosisOf(result, service)
	if len(d.Waiting) == 0 {
		return ""
	}
	return d.Waiting[0].Task().ID
}

// diagnosisOf is the scheduler's of a service.
func diagnosisOf(result analyzer.Result, service string) analyzer.Diagnosis {
	for _, d := range result.Diagnoses {
		if d.Service == service && len(d.Waiting) > 0 {
			return d
		}
	}
	return analyzer.Diagnosis{}
}
