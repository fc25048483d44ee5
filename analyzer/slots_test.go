package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// ago is a time of the managers, so long before epoch.
func ago(d time.Duration) *gogotypes.Timestamp {
	return &gogotypes.Timestamp{Seconds: epoch.Add(-d).Unix()}
}

// web is a replicated service, changed as the test needs it.
func web(replicas uint64, changes ...func(*api.Service)) *api.Service {
	s := &api.Service{
		ID: "web", Meta: api.Meta{CreatedAt: ago(time.Hour)}, SpecVersion: &api.Version{Index: 2},
		Spec: api.ServiceSpec{
			Annotations: api.Annotations{Name: "web", Labels: map[string]string{}},
			Mode:        &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: replicas}},
		},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

// taskOf is a task of web that is wanted to run, in a state since that long before epoch.
func taskOf(slot uint64, state api.TaskState, since time.Duration, changes ...func(*api.Task)) *api.Task {
	t := &api.Task{
		ID: "task-" + strings.ToLower(state.String()) + since.String(), ServiceID: "web", Slot: slot, DesiredState: api.TaskStateRunning,
		Meta: api.Meta{CreatedAt: ago(since), UpdatedAt: ago(since)}, SpecVersion: &api.Version{Index: 2},
		Status: api.TaskStatus{State: state, Timestamp: ago(since)},
	}
	if state > api.TaskStatePending {
		t.NodeID = "node-1"
	}
	for _, change := range changes {
		change(t)
	}
	return t
}

func ended(err string) func(*api.Task) {
	return func(t *api.Task) { t.DesiredState, t.Status.Err = api.TaskStateShutdown, err }
}

func createdAt(before time.Duration) func(*api.Task) {
	return func(t *api.Task) { t.Meta.CreatedAt = ago(before) }
}

func readyNode(id string) *api.Node {
	return &api.Node{
		ID: id, Spec: api.NodeSpec{Availability: api.NodeAvailabilityActive}, Status: api.NodeStatus{State: api.NodeStatus_READY},
		Description: &api.NodeDescription{Hostname: id, Resources: &api.Resources{NanoCPUs: 2e9, MemoryBytes: 4 << 30}},
	}
}

func stateWith(t *testing.T, objects ...any) *collector.State {
	t.Helper()
	store := collector.NewStore()
	if err := store.Replace(append(objects, readyNode("node-1"))); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}

func TestASlotIsStuckOnlyPastTheThresholdOfItsState(t *testing.T) {
	t.Parallel()
	restart := func(condition api.RestartPolicy_RestartCondition) func(*api.Task) {
		return func(t *api.Task) { t.Spec.Restart = &api.RestartPolicy{Condition: condition} }
	}
	for name, c := range map[string]struct {
		service *api.Service
		tasks   []*api.Task
		want    string // component, state and number of tasks; empty for nothing
		running int
	}{
		"a running task is as desired":                    {web(1), []*api.Task{taskOf(1, api.TaskStateRunning, time.Second)}, "", 1},
		"a task may be new for a moment":                  {web(1), []*api.Task{taskOf(1, api.TaskStateNew, 9*time.Second)}, "", 0},
		"a task that stays new is the allocator's":        {web(1), []*api.Task{taskOf(1, api.TaskStateNew, 11*time.Second)}, "allocator new 1", 0},
		"a task may prepare for a minute":                 {web(1), []*api.Task{taskOf(1, api.TaskStatePreparing, 59*time.Second)}, "", 0},
		"a task that prepares for longer is the agent's":  {web(1), []*api.Task{taskOf(1, api.TaskStatePreparing, 61*time.Second)}, "agent preparing 1", 0},
		"a task that is assigned and nothing more":        {web(1), []*api.Task{taskOf(1, api.TaskStateAssigned, 11*time.Second)}, "agent assigned 1", 0},
		"a pending task that a node would take":           {web(1), []*api.Task{taskOf(1, api.TaskStatePending, 11*time.Second)}, "scheduler pending 1", 0},
		"a service without any task":                      {web(2), nil, "orchestrator none 0", 0},
		"a service that wants more than anybody has":      {web(1 << 63), nil, "orchestrator none 0", 0},
		"a service that wants none":                       {web(0), nil, "", 0},
		"one slot of two without a task":                  {web(2), []*api.Task{taskOf(1, api.TaskStateRunning, time.Hour)}, "orchestrator none 0", 1},
		"a slot that fails again and again":               {web(1), []*api.Task{taskOf(1, api.TaskStateFailed, 20*time.Second, ended("task: non-zero exit (1)")), taskOf(1, api.TaskStateStarting, time.Second)}, "agent starting 1", 0},
		"a slot that failed once after it ran for long":   {web(1), []*api.Task{taskOf(1, api.TaskStateFailed, 3*time.Second, ended("task: non-zero exit (1)"), createdAt(time.Hour)), taskOf(1, api.TaskStateStarting, time.Second)}, "", 0},
		"a slot that is not restarted":                    {web(1), []*api.Task{taskOf(1, api.TaskStateFailed, 20*time.Second, ended("no"), restart(api.RestartOnNone))}, "orchestrator failed 1", 0},
		"a task that completed under condition none":      {web(1), []*api.Task{taskOf(1, api.TaskStateCompleted, time.Hour, ended(""), restart(api.RestartOnNone))}, "", 0},
		"a task that completed and should be restarted":   {web(1), []*api.Task{taskOf(1, api.TaskStateCompleted, time.Hour, ended(""), restart(api.RestartOnAny))}, "orchestrator complete 1", 0},
		"a task that should have ended on a ready node":   {web(1), []*api.Task{taskOf(1, api.TaskStateRunning, time.Hour), taskOf(1, api.TaskStateRunning, time.Minute, ended(""))}, "agent running 1", 1},
		"a task that is ending within its grace":          {web(1), []*api.Task{taskOf(1, api.TaskStateRunning, time.Hour), taskOf(1, api.TaskStateRunning, 15*time.Second, ended(""))}, "", 1},
		"a task that should have ended on a node gone":    {web(1), []*api.Task{taskOf(1, api.TaskStateRunning, time.Hour), taskOf(1, api.TaskStateRunning, time.Minute, ended(""), func(t *api.Task) { t.NodeID = "gone" })}, "", 1},
		"a pending leftover of an old spec does no harm":  {web(1), []*api.Task{taskOf(1, api.TaskStateRunning, time.Hour), taskOf(1, api.TaskStatePending, time.Hour, ended(""))}, "", 1},
		"a young pending task in an old slot that fits":   {web(1), []*api.Task{taskOf(1, api.TaskStateFailed, time.Minute, ended(""), createdAt(time.Hour)), taskOf(1, api.TaskStatePending, 2*time.Second)}, "", 0},
		"a rejected task that is about to be replaced":    {web(1), []*api.Task{taskOf(1, api.TaskStateRejected, 40*time.Second, ended("no such image")), taskOf(1, api.TaskStateRejected, 11*time.Second, ended("no such image"))}, "agent rejected 1", 0},
		"the new task of a start-first update that waits": {web(1), []*api.Task{taskOf(1, api.TaskStateRunning, time.Hour), taskOf(1, api.TaskStatePending, time.Minute)}, "scheduler pending 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []any{c.service}
			for _, task := range c.tasks {
				objects = append(objects, task)
			}
			result := Analyze(stateWith(t, objects...), epoch, Patience{})
			var got []string
			for _, d := range result.Diagnoses {
				got = append(got, string(d.Component)+" "+d.State+" "+strings.TrimPrefix(count(d.Tasks, ""), " ")[:1])
				if d.Running != c.running {
					t.Errorf("%d run, want %d", d.Running, c.running)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q\n%v", strings.Join(got, ", "), c.want, result.Diagnoses)
			}
		})
	}
}

func TestAgesAreCountedFromWhenTheSlotWasLastAsDesired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tasks []*api.Task
		want  time.Duration // before epoch
	}{
		"the first task of a slot counts from when it was made": {[]*api.Task{taskOf(1, api.TaskStatePending, time.Minute)}, time.Minute},
		"a pending task's own timestamp is never used":          {[]*api.Task{taskOf(1, api.TaskStatePending, time.Second, createdAt(time.Hour))}, time.Hour},
		"after a task that ran, from when that ended": {
			[]*api.Task{taskOf(1, api.TaskStateShutdown, 2*time.Minute, ended(""), createdAt(time.Hour)), taskOf(1, api.TaskStatePending, time.Minute)}, 2 * time.Minute,
		},
		"after a task that runs still, from when it was told to stop": {
			[]*api.Task{
				taskOf(1, api.TaskStateRunning, 2*time.Minute, ended(""), createdAt(time.Hour), func(t *api.Task) { t.Status.Timestamp, t.NodeID = ago(time.Hour), "node-away" }),
				taskOf(1, api.TaskStatePending, time.Minute),
			}, 2 * time.Minute,
		},
		"a task that was rejected was never as desired": {
			[]*api.Task{taskOf(1, api.TaskStateRejected, 2*time.Minute, ended("No such image: x"), createdAt(time.Hour)), taskOf(1, api.TaskStatePending, time.Minute)}, time.Hour,
		},
		"nor was one that ran for a moment": {
			[]*api.Task{taskOf(1, api.TaskStateFailed, 2*time.Minute, ended("task: non-zero exit (1)"), createdAt(2*time.Minute+time.Second)), taskOf(1, api.TaskStatePending, time.Minute)}, 2*time.Minute + time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []any{web(1)}
			for _, task := range c.tasks {
				objects = append(objects, task)
			}
			result := Analyze(stateWith(t, objects...), epoch, Patience{})
			if len(result.Diagnoses) != 1 || !result.Diagnoses[0].Since.Equal(epoch.Add(-c.want)) {
				t.Errorf("want one diagnosis since %s, got %+v", epoch.Add(-c.want), result.Diagnoses)
			}
		})
	}
}

// global makes web a global service or, of jobs, one that runs once a node.
func global(mode string) func(*api.Service) {
	return func(s *api.Service) {
		s.Spec.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}}
		if mode == "job" {
			s.Spec.Mode = &api.ServiceSpec_GlobalJob{GlobalJob: &api.GlobalJob{}}
			s.JobStatus = &api.JobStatus{JobIteration: api.Version{Index: 1}}
		}
	}
}

func onNode(id string) func(*api.Task) {
	return func(t *api.Task) { t.ID, t.NodeID, t.JobIteration = t.ID+id, id, &api.Version{Index: 1} }
}

func TestAGlobalServiceWantsATaskWhereItMayRunOrStillDoes(t *testing.T) {
	t.Parallel()
	paused := readyNode("node-2")
	paused.Spec.Availability = api.NodeAvailabilityPause
	for name, c := range map[string]struct {
		objects []any
		want    string
	}{
		"a paused node keeps its task, and the other is stuck": {
			[]any{web(0, global("")), paused, taskOf(0, api.TaskStatePreparing, time.Hour, onNode("node-1")), taskOf(0, api.TaskStateRunning, time.Hour, onNode("node-2"))},
			"unexplained agent 1 of 2 degraded",
		},
		"a paused node without a task wants none": {
			[]any{web(0, global("")), paused, taskOf(0, api.TaskStatePreparing, time.Hour, onNode("node-1"))},
			"unexplained agent 0 of 1 down",
		},
		"a job has no task on a node that was away when it was made": {
			[]any{web(0, global("job")), readyNode("node-2"), taskOf(0, api.TaskStateCompleted, time.Hour, onNode("node-1"), wanted(api.TaskStateCompleted))},
			"unexplained orchestrator 1 of 2 degraded",
		},
		"a job that is done on every node is well": {
			[]any{
				web(0, global("job")), readyNode("node-2"), taskOf(0, api.TaskStateCompleted, time.Hour, onNode("node-1"), wanted(api.TaskStateCompleted)),
				taskOf(0, api.TaskStateCompleted, time.Hour, onNode("node-2"), wanted(api.TaskStateCompleted)),
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, d := range Analyze(stateWith(t, c.objects...), epoch, Patience{}).Diagnoses {
				got = append(got, fmt.Sprintf("%s %s %d of %d %s", d.Cause, d.Component, d.Running, d.Wanted, d.Impact))
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func wanted(desired api.TaskState) func(*api.Task) {
	return func(t *api.Task) { t.DesiredState = desired }
}
