package analyzer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/collector"
)

// epoch is the time that random states are from: everything in them is older by less than an hour.
var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestNothingThatIsStuckGoesWithoutADiagnosis(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state := drawState(t)
		now := epoch.Add(24 * time.Hour)
		result := Analyze(state, now, Patience{})
		for s := range state.Services() {
			for slot, tasks := range newestLive(state, s) {
				if asDesired(s, tasks) {
					continue
				}
				names := func(d Diagnosis) bool { return d.Subject.ID == s.ID && slices.Contains(d.stuck, tasks.ID) }
				if !slices.ContainsFunc(slices.Concat(result.Diagnoses, result.Ignored), names) {
					t.Fatalf("task %s in slot %v of %s is %s and has no diagnosis:\n%v", tasks.ID, slot, s.ID, tasks.Status.State, result.Diagnoses)
				}
			}
		}
		for _, d := range slices.Concat(result.Diagnoses, result.Ignored) {
			if d.Summary == "" || d.Cause == "" || d.ID == "" || d.State == "" || d.Since.IsZero() {
				t.Fatalf("a diagnosis lacks what every one has: %+v", d)
			}
		}
	})
}

func TestAnalysisIsAFunctionOfItsArguments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state, patience := drawState(t), Patience{ProvenAtOnce: rapid.Bool().Draw(t, "proven at once")}
		now := epoch.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
		once, twice := Analyze(state, now, patience), Analyze(state, now, patience)
		if diff := cmp.Diff(once, twice, cmpopts.IgnoreUnexported(Diagnosis{}), cmpopts.IgnoreFields(Diagnosis{}, "Waiting")); diff != "" {
			t.Fatalf("two looks at the same state differ:\n%s", diff)
		}
	})
}

func TestOneServiceHasOneDiagnosisPerFault(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seen := map[string]bool{}
		for _, d := range Analyze(drawState(t), epoch.Add(24*time.Hour), Patience{}).Diagnoses {
			if seen[d.ID] {
				t.Fatalf("diagnosis %s of %s is there twice", d.ID, d.Service)
			}
			seen[d.ID] = true
		}
	})
}

func TestNextIsWhenSomethingBecomesOverdue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		state, now := drawState(t), epoch.Add(5*time.Second)
		early := Analyze(state, now, Patience{})
		if early.Next.IsZero() {
			return
		}
		if !early.Next.After(now) {
			t.Fatalf("next is %s, now is %s", early.Next, now)
		}
		before, after := Analyze(state, early.Next.Add(-time.Nanosecond), Patience{}), Analyze(state, early.Next, Patience{})
		if entries(before) >= entries(after) {
			t.Fatalf("at %s nothing became overdue", early.Next)
		}
	})
}

// entries counts what is stuck in all.
func entries(result Result) int {
	n := 0
	for _, d := range slices.Concat(result.Diagnoses, result.Ignored) {
		n += max(d.Tasks+d.missing, 1)
	}
	return n
}

// newestLive returns the newest task of every slot that the orchestrator keeps.
func newestLive(state *collector.State, s *api.Service) map[string]*api.Task {
	newest := map[string]*api.Task{}
	for t := range state.TasksOf(s.ID) {
		slot := fmt.Sprint(t.Slot)
		if isGlobal(s) {
			slot = t.NodeID
		}
		old := newest[slot]
		if isLive(t) && (old == nil || created(t).After(created(old)) || created(t).Equal(created(old)) && t.ID > old.ID) {
			newest[slot] = t
		}
	}
	return newest
}

func drawState(t *rapid.T) *collector.State {
	var objects []any
	for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
		objects = append(objects, drawNode(t, fmt.Sprintf("node-%d", i)))
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "services") {
		s := drawService(t, fmt.Sprintf("service-%d", i))
		objects = append(objects, s)
		for j := range rapid.IntRange(0, 5).Draw(t, "tasks") {
			objects = append(objects, drawTask(t, s, fmt.Sprintf("task-%d-%d", i, j)))
		}
	}
	store := collector.NewStore()
	if err := store.Replace(objects); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}

func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func drawTime(t *rapid.T, label string) *gogotypes.Timestamp {
	stamp, err := gogotypes.TimestampProto(epoch.Add(-time.Duration(rapid.IntRange(0, 3600).Draw(t, label)) * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

func drawNode(t *rapid.T, id string) *api.Node {
	n := &api.Node{
		ID: id, Role: pick(t, "role", api.NodeRoleManager, api.NodeRoleWorker), Meta: api.Meta{UpdatedAt: drawTime(t, "node updated")},
		Spec: api.NodeSpec{
			Annotations:  api.Annotations{Labels: map[string]string{"env": pick(t, "env", "prod", "test")}},
			Availability: pick(t, "availability", api.NodeAvailabilityActive, api.NodeAvailabilityActive, api.NodeAvailabilityDrain, api.NodeAvailabilityPause),
		},
		Status: api.NodeStatus{State: pick(t, "state", api.NodeStatus_READY, api.NodeStatus_READY, api.NodeStatus_DOWN, api.NodeStatus_UNKNOWN)},
	}
	if rapid.IntRange(0, 5).Draw(t, "described") > 0 {
		n.Description = &api.NodeDescription{
			Hostname:  pick(t, "hostname", id, "same", ""),
			Platform:  &api.Platform{OS: pick(t, "os", "linux", "windows"), Architecture: "x86_64"},
			Resources: &api.Resources{NanoCPUs: 2e9, MemoryBytes: 4 << 30, Generic: genericresource.NewSet("gpu", "a", "b")},
			Engine:    &api.EngineDescription{EngineVersion: "27.5.1", Plugins: []api.PluginDescription{{Type: "Log", Name: "json-file"}}},
		}
	}
	return n
}

func drawService(t *rapid.T, id string) *api.Service {
	s := &api.Service{
		ID: id, Meta: api.Meta{CreatedAt: drawTime(t, "service created")}, SpecVersion: &api.Version{Index: 2},
		Spec: api.ServiceSpec{Annotations: api.Annotations{Name: id, Labels: map[string]string{labelIgnore: pick(t, "ignore", "", "", "*", "unexplained")}}, Task: drawSpec(t)},
	}
	replicas := rapid.Uint64Range(0, 3).Draw(t, "replicas")
	switch pick(t, "mode", "replicated", "replicated", "global", "job", "global job") {
	case "replicated":
		s.Spec.Mode = &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: replicas}}
	case "global":
		s.Spec.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}}
	case "job":
		s.Spec.Mode = &api.ServiceSpec_ReplicatedJob{ReplicatedJob: &api.ReplicatedJob{TotalCompletions: replicas, MaxConcurrent: 1}}
	case "global job":
		s.Spec.Mode = &api.ServiceSpec_GlobalJob{GlobalJob: &api.GlobalJob{}}
	}
	if rapid.Bool().Draw(t, "updated") {
		s.PreviousSpec = s.Spec.Copy()
		s.UpdateStatus = &api.UpdateStatus{State: pick(t, "update", api.UpdateStatus_UPDATING, api.UpdateStatus_PAUSED, api.UpdateStatus_COMPLETED)}
	}
	return s
}

func drawSpec(t *rapid.T) api.TaskSpec {
	spec := api.TaskSpec{
		Runtime: &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: "demo"}},
		Restart: &api.RestartPolicy{Condition: pick(t, "restart", api.RestartOnAny, api.RestartOnFailure, api.RestartOnNone)},
		Placement: &api.Placement{
			Constraints: pick(t, "constraints", nil, []string{"node.labels.env==prod"}, []string{"node.labels.env==prod", "engine.labels.disk==ssd"}, []string{"env==prod"}, []string{"what"}),
			MaxReplicas: pick[uint64](t, "max replicas", 0, 0, 1),
			Platforms:   pick(t, "platforms", nil, nil, []*api.Platform{{OS: "linux", Architecture: "arm64"}}),
		},
		LogDriver: pick(t, "log driver", nil, nil, &api.Driver{Name: "splunk"}),
	}
	if rapid.Bool().Draw(t, "reserves") {
		spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{
			NanoCPUs: pick[int64](t, "cpus", 0, 1e9, 9e9), MemoryBytes: pick[int64](t, "memory", 0, 1<<30, 1<<40),
			Generic: []*api.GenericResource{genericresource.NewDiscrete(pick(t, "kind", "gpu", "fpga"), rapid.Int64Range(0, 3).Draw(t, "generic"))},
		}}
	}
	if rapid.IntRange(0, 3).Draw(t, "mounts") == 0 {
		spec.GetContainer().Mounts = []api.Mount{{Type: api.MountTypeCluster, Source: "data", Target: "/data"}}
	}
	return spec
}

func drawTask(t *rapid.T, s *api.Service, id string) *api.Task {
	task := &api.Task{
		ID: id, ServiceID: s.ID, Slot: rapid.Uint64Range(1, 3).Draw(t, "slot"), Spec: s.Spec.Task,
		Meta:         api.Meta{CreatedAt: drawTime(t, "created"), UpdatedAt: drawTime(t, "updated")},
		SpecVersion:  &api.Version{Index: rapid.Uint64Range(1, 2).Draw(t, "spec version")},
		DesiredState: pick(t, "desired", api.TaskStateRunning, api.TaskStateRunning, api.TaskStateReady, api.TaskStateCompleted, api.TaskStateShutdown, api.TaskStateRemove),
		Status:       api.TaskStatus{Timestamp: drawTime(t, "timestamp"), State: drawTaskState(t)},
	}
	if isGlobal(s) || task.Status.State > api.TaskStatePending {
		task.NodeID = fmt.Sprintf("node-%d", rapid.IntRange(0, 5).Draw(t, "node"))
	}
	if isGlobal(s) {
		task.Slot = 0
	}
	if task.Status.State > api.TaskStateRunning {
		task.Status.Err = pick(t, "err", "", "task: non-zero exit (1)", "No such image: x")
	}
	if rapid.IntRange(0, 3).Draw(t, "ports") == 0 {
		task.Endpoint = &api.Endpoint{Ports: []*api.PortConfig{{PublishMode: api.PublishModeHost, PublishedPort: 80, TargetPort: 80}}}
	}
	return task
}

func drawTaskState(t *rapid.T) api.TaskState {
	return pick(t, "task state", api.TaskStateNew, api.TaskStatePending, api.TaskStatePending, api.TaskStatePending, api.TaskStateAssigned, api.TaskStateAccepted,
		api.TaskStatePreparing, api.TaskStateReady, api.TaskStateStarting, api.TaskStateRunning, api.TaskStateCompleted, api.TaskStateShutdown, api.TaskStateFailed,
		api.TaskStateRejected, api.TaskStateOrphaned)
}
