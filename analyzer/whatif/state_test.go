package whatif

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// start is when changes are tried.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const gib = collectortest.GiB

// What swarms are made of, under short names.
var (
	drained, paused, down, labelled = collectortest.Drained, collectortest.Paused, collectortest.Down, collectortest.Labelled
	constrained, global             = collectortest.Constrained, collectortest.Global
	hostPort                        = collectortest.Publishes(8080)
)

// node has so many GiB of memory, and its id as its name and as a label.
func node(id string, memory int64, set ...func(*api.Node)) *api.Node {
	standard := []func(*api.Node){labelled("id", id), collectortest.MemoryOf(memory * gib)}
	return collectortest.NamedNode(id, id, append(standard, set...)...)
}

// service reserves so many GiB of memory for each task. Its id is its name.
func service(name string, replicas uint64, memory int64, set ...func(*api.ServiceSpec)) *api.Service {
	s := collectortest.Service(name, replicas, append([]func(*api.ServiceSpec){collectortest.Reserves(memory*gib, 0)}, set...)...)
	s.ID = name
	return s
}

// running are tasks of the service on nodes, a slot each; "" is one that waits.
func running(s *api.Service, nodes ...string) []any {
	var tasks []any
	for i, n := range nodes {
		state := api.TaskStateRunning
		if n == "" {
			state = api.TaskStatePending
		}
		t := collectortest.Task(s, i+1, state)
		t.NodeID, t.Endpoint = n, cmp.Or(t.Endpoint, &api.Endpoint{})
		tasks = append(tasks, t)
	}
	return tasks
}

// runningJob are tasks of a job's run.
func runningJob(job *api.Service, nodes ...string) []any {
	tasks := running(job, nodes...)
	for i, object := range tasks {
		t := object.(*api.Task)
		t.Slot, t.DesiredState, t.JobIteration = uint64(i), api.TaskStateCompleted, &job.JobStatus.JobIteration
		if isGlobal(job) {
			t.Slot = 0
		}
	}
	return tasks
}

// endedOn makes the nth of the tasks one that ended.
func endedOn(tasks []any, n int, state api.TaskState) []any {
	t := tasks[n].(*api.Task)
	t.Status.State, t.DesiredState = state, api.TaskStateShutdown
	return tasks
}

func restarts(condition api.RestartPolicy_RestartCondition, attempts uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.Restart = &api.RestartPolicy{Condition: condition, MaxAttempts: attempts}
	}
}

func jobOf(concurrent, completions uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Mode = &api.ServiceSpec_ReplicatedJob{ReplicatedJob: &api.ReplicatedJob{MaxConcurrent: concurrent, TotalCompletions: completions}}
	}
}

func globalJob(s *api.ServiceSpec) {
	s.Mode = &api.ServiceSpec_GlobalJob{GlobalJob: &api.GlobalJob{}}
}

func except(node string) func(*api.ServiceSpec) { return constrained("node.labels.id!=" + node) }

func scaled(replicas uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.GetReplicated().Replicas = replicas }
}

// forced is a change that makes every task anew, same one that changes nothing.
func forced(s *api.ServiceSpec) { s.Task.ForceUpdate++ }
func same(*api.ServiceSpec)     {}

func reserves(memory int64) func(*api.ServiceSpec) { return collectortest.Reserves(memory*gib, 0) }

func order(order api.UpdateConfig_UpdateOrder, parallelism uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Update = &api.UpdateConfig{Order: order, Parallelism: parallelism} }
}

func maxReplicas(limit uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Placement.MaxReplicas = limit }
}

// updated is a change of the service's spec.
func updated(s *api.Service, restarts bool, edits ...func(*api.ServiceSpec)) Change {
	spec := s.Spec.Copy()
	for _, edit := range edits {
		edit(spec)
	}
	return Change{Services: []ServiceChange{{ID: s.ID, Spec: spec, Restarts: restarts}}}
}

// with is a change of nodes, or one that adds them.
func with(nodes ...*api.Node) Change { return Change{Nodes: nodes} }

// try does a change to a swarm of these objects.
func try(t *testing.T, change Change, objects ...any) Outcome {
	t.Helper()
	outcome, err := Try(t.Context(), analyzertest.StateOf(t, objects...), change, start)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// brief is what a test looks at.
type brief struct {
	All                    bool
	Wanted, Running, Waits int
	On                     map[string]int
	Cause                  string
	// Done and Steps are those of the update.
	Done, Steps int
	Need        string
	Displaced   string
}

func briefly(o Outcome) brief {
	b := brief{All: o.PlacesAll, On: map[string]int{}}
	for _, s := range o.Services {
		b.Wanted, b.Running, b.Waits = b.Wanted+s.Wanted, b.Running+s.Running, b.Waits+s.Waiting
		for _, c := range s.On {
			b.On[c.Node] += c.Tasks
		}
		if u := s.Update; u != nil {
			b.Done, b.Steps = u.Done, len(u.Steps)
			for _, n := range u.Needs {
				b.Need += fmt.Sprintf("%d × %g %s beside %d × %g, ", n.Tasks, n.Each/scale(n), n.What, n.Beside, n.BesideEach/scale(n))
				for _, also := range n.BesideAlso {
					b.Need += fmt.Sprintf("%d × %g, ", also.Tasks, also.Each/scale(n))
				}
				b.Need += fmt.Sprintf("free %g %s", n.Free/scale(n), n.Wanted)
			}
		}
	}
	for _, d := range o.Diagnoses {
		b.Cause += d.Cause
	}
	for _, d := range o.Displaced {
		b.Displaced += fmt.Sprintf("%d of %s on %s: %s;", d.Tasks, d.Service, d.Node, d.Why)
	}
	return b
}

func scale(n Need) float64 {
	if n.Unit == "bytes" {
		return gib
	}
	return 1
}
