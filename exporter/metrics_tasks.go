package exporter

import (
	"math"
	"slices"
	"strings"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

var (
	stuckDesc = describe("stuck_tasks", "Tasks that are stuck past their threshold, each under one cause; where none exists "+
		"for a service, the replicas that it lacks. What is so by intent or passing is left out.", "service", "cause")
	ignoredDesc = describe("ignored_tasks", "Tasks that are stuck and that a label silences.", "service", "cause")
	openDesc    = describe("diagnoses", "Open diagnoses.", "cause", "component", "severity")
	tasksDesc   = describe("tasks", "Tasks of existing services by observed state, ended ones that Swarm still remembers included.",
		"service", "state")
	waitDesc = describe("task_state_seconds", "How long the tasks that should run and do not yet have been in their state now: "+
		"the median, the ninth decile and the longest of this moment, their sum and number. "+
		"New, allocated and pending tasks count from their creation.", "state")

	diagnosisDescs = []*prometheus.Desc{stuckDesc, ignoredDesc, openDesc}
	taskDescs      = []*prometheus.Desc{tasksDesc, waitDesc}
)

// collectDiagnoses counts what a result holds.
func collectDiagnoses(out chan<- prometheus.Metric, result analyzer.Result) {
	type kind struct{ cause, component, severity string }
	open := map[kind]int{}
	var stuck []analyzer.Diagnosis
	for _, d := range result.Diagnoses {
		open[kind{d.Cause, string(d.Component), string(d.Severity)}]++
		if d.Severity != analyzer.Info {
			stuck = append(stuck, d)
		}
	}
	for k, n := range open {
		gauge(out, openDesc, float64(n), k.cause, k.component, k.severity)
	}
	countStuck(out, stuckDesc, stuck)
	countStuck(out, ignoredDesc, result.Ignored)
}

// countStuck counts the stuck tasks of services by cause.
func countStuck(out chan<- prometheus.Metric, desc *prometheus.Desc, diagnoses []analyzer.Diagnosis) {
	type kind struct{ service, cause string }
	tasks := map[kind]int{}
	for _, d := range diagnoses {
		if d.Service == "" {
			continue
		}
		n := d.Tasks
		if n == 0 {
			n = max(1, d.Wanted-d.Running)
		}
		tasks[kind{d.Service, d.Cause}] += n
	}
	for k, n := range tasks {
		gauge(out, desc, float64(n), k.service, k.cause)
	}
}

// collectTasks counts the tasks of a state, and measures how long they wait.
func collectTasks(out chan<- prometheus.Metric, state *collector.State, now time.Time) {
	type kind struct {
		service string
		state   api.TaskState
	}
	services := map[string]string{}
	for s := range state.Services() {
		services[s.ID] = s.Spec.Annotations.Name
	}
	tasks, waits := map[kind]int{}, map[api.TaskState][]float64{}
	for t := range state.Tasks() {
		name, exists := services[t.ServiceID]
		if !exists {
			continue
		}
		tasks[kind{name, t.Status.State}]++
		if t.Status.State < api.TaskStateRunning && t.DesiredState <= api.TaskStateCompleted {
			if since := waitsSince(t); !since.IsZero() {
				waits[t.Status.State] = append(waits[t.Status.State], max(0, now.Sub(since).Seconds()))
			}
		}
	}
	for k, n := range tasks {
		gauge(out, tasksDesc, float64(n), k.service, stateName(k.state))
	}
	for s, seconds := range waits {
		out <- summary(seconds, stateName(s))
	}
}

func summary(seconds []float64, state string) prometheus.Metric {
	slices.Sort(seconds)
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	quantiles := map[float64]float64{}
	for _, q := range []float64{0.5, 0.9, 1} {
		quantiles[q] = seconds[int(math.Ceil(q*float64(len(seconds))))-1]
	}
	return prometheus.MustNewConstSummary(waitDesc, uint64(len(seconds)), sum, quantiles, state)
}

// waitsSince is when a task came into its state. Until a node takes it that is its creation: the time of a pending
// task's status moves whenever the text does.
func waitsSince(t *api.Task) time.Time {
	if t.Status.State <= api.TaskStatePending {
		return stamp(t.Meta.CreatedAt)
	}
	return appliedAt(t)
}

// appliedAt is when a task's status was written: by the leader's clock where the source tells, else by the writer's.
func appliedAt(t *api.Task) time.Time {
	if applied := stamp(t.Status.AppliedAt); !applied.IsZero() {
		return applied
	}
	return stamp(t.Status.Timestamp)
}

// stamp reads a time; zero where there is none.
func stamp(s *gogotypes.Timestamp) time.Time {
	if s == nil {
		return time.Time{}
	}
	t, err := gogotypes.TimestampFromProto(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

func stateName(s api.TaskState) string { return strings.ToLower(s.String()) }
