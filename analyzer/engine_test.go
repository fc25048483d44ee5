package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/collector"
)

func TestTheEngineSaysWhatAFreshAnalysisSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		store := collector.NewStore()
		services := []*api.Service{drawService(t, "service-0"), drawService(t, "service-1")}
		put(t, store, services[0], services[1])
		compareSteps(t, store, func() { edit(t, store, services) })
	})
}

// compareSteps holds the engine against a fresh analysis after each of some steps of some edits.
func compareSteps(t *rapid.T, store *collector.Store, edit func()) {
	patience := Patience{ProvenAtOnce: rapid.Bool().Draw(t, "proven at once")}
	engine, now := NewEngine(patience), epoch
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			edit()
		}
		now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "passes")) * time.Second)
		state := store.Snapshot()
		got, want := engine.Analyze(state, now), Analyze(state, now, patience)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Diagnosis{}, thing{}), cmpopts.IgnoreFields(Diagnosis{}, "Waiting")); diff != "" {
			t.Fatalf("the engine differs (-fresh +engine):\n%s", diff)
		}
	}
}

func TestTheEngineSaysWhatAFreshAnalysisSaysOfEachReason(t *testing.T) {
	t.Parallel()
	asks := map[string]func(*api.TaskSpec){
		"placement-constraint": func(s *api.TaskSpec) {
			s.Placement.Constraints = []string{"node.labels.env==none", "engine.labels.disk==ssd"}
		},
		"platform-mismatch": func(s *api.TaskSpec) { s.Placement.Platforms = []*api.Platform{{OS: "plan9", Architecture: "mips"}} },
		"plugin-missing":    func(s *api.TaskSpec) { s.LogDriver = &api.Driver{Name: "splunky"} },
		"resources": func(s *api.TaskSpec) {
			s.Resources = &api.ResourceRequirements{Reservations: &api.Resources{NanoCPUs: 4e9, MemoryBytes: 9 << 30}}
		},
		"max-replicas":      func(s *api.TaskSpec) { s.Placement.MaxReplicas = 1 },
		"host-port":         func(*api.TaskSpec) {},
		"no-available-node": func(s *api.TaskSpec) { s.Placement.Constraints = []string{"node.labels.env==prod"} },
	}
	rapid.Check(t, func(t *rapid.T) {
		store, s := collector.NewStore(), web(4)
		reason := pick(t, "reason", slices.Sorted(maps.Keys(asks))...)
		s.Spec.Task.Placement = &api.Placement{}
		asks[reason](&s.Spec.Task)
		put(t, store, s, waiting(s, "task-0"))
		for i := range 3 {
			n := drawNode(t, fmt.Sprintf("node-%d", i))
			n.Status.State, n.Spec.Availability = api.NodeStatus_READY, api.NodeAvailabilityActive
			if reason == "no-available-node" {
				n.Spec.Availability = api.NodeAvailabilityDrain
			}
			put(t, store, n, runningOn(s, i))
		}
		compareSteps(t, store, func() { disturb(t, store, s) })
	})
}

// waiting is a pending task of a service, with a port in host mode.
func waiting(s *api.Service, id string) *api.Task {
	return &api.Task{
		ID: id, ServiceID: s.ID, Spec: s.Spec.Task, SpecVersion: s.SpecVersion, DesiredState: api.TaskStateRunning,
		Endpoint: &api.Endpoint{Ports: []*api.PortConfig{{PublishMode: api.PublishModeHost, PublishedPort: 80, TargetPort: 80}}},
		Status:   api.TaskStatus{State: api.TaskStatePending},
	}
}

// runningOn is the task that may run on a node.
func runningOn(s *api.Service, node int) *api.Task {
	task := waiting(s, fmt.Sprintf("running-%d", node))
	task.NodeID, task.Status.State = fmt.Sprintf("node-%d", node), api.TaskStateRunning
	return task
}

// disturb changes one thing of a node, or puts or removes a task.
func disturb(t *rapid.T, store *collector.Store, s *api.Service) {
	task := waiting(s, fmt.Sprintf("task-%d", rapid.IntRange(1, 5).Draw(t, "which task")))
	switch rapid.IntRange(0, 6).Draw(t, "disturb") {
	case 0:
		remove(t, store, task)
	case 1:
		put(t, store, task)
	case 2:
		put(t, store, runningOn(s, rapid.IntRange(0, 2).Draw(t, "where")))
	case 3:
		remove(t, store, runningOn(s, rapid.IntRange(0, 2).Draw(t, "where")))
	default:
		n := store.Snapshot().Node(fmt.Sprintf("node-%d", rapid.IntRange(0, 2).Draw(t, "which node")))
		put(t, store, alter(t, n.Copy()))
	}
}

// edit puts or removes one object.
func edit(t *rapid.T, store *collector.Store, services []*api.Service) {
	node := fmt.Sprintf("node-%d", rapid.IntRange(0, 4).Draw(t, "which node"))
	task := fmt.Sprintf("task-%d", rapid.IntRange(0, 9).Draw(t, "which task"))
	i := rapid.IntRange(0, len(services)-1).Draw(t, "which service")
	switch rapid.IntRange(0, 12).Draw(t, "edit") {
	case 0:
		remove(t, store, &api.Node{ID: node})
	case 1:
		remove(t, store, &api.Task{ID: task})
	case 2:
		remove(t, store, services[i])
	case 3:
		services[i] = drawService(t, services[i].ID)
		put(t, store, services[i])
	case 4, 5:
		put(t, store, drawNode(t, node))
	case 6, 7, 8:
		if n := store.Snapshot().Node(node); n != nil {
			put(t, store, alter(t, n.Copy()))
		}
	default:
		put(t, store, drawTask(t, services[i], task))
	}
}

// alter changes one thing of a node.
func alter(t *rapid.T, n *api.Node) *api.Node {
	d := n.Description
	if d == nil {
		d = &api.NodeDescription{}
	}
	changes := map[string]func(){
		"label":   func() { n.Spec.Annotations.Labels = map[string]string{"env": pick(t, "env", "prod", "test", "stage")} },
		"role":    func() { n.Role = pick(t, "role", api.NodeRoleManager, api.NodeRoleWorker) },
		"address": func() { n.Status.Addr = pick(t, "address", "10.0.0.1", "10.0.0.2") },
		"state":   func() { n.Status.State = pick(t, "state", api.NodeStatus_READY, api.NodeStatus_DOWN) },
		"message": func() { n.Status.Message = pick(t, "message", "", "heartbeat failure") },
		"time":    func() { n.Meta.UpdatedAt = drawTime(t, "node updated") },
		"availability": func() {
			n.Spec.Availability = pick(t, "availability", api.NodeAvailabilityActive, api.NodeAvailabilityDrain)
		},
		"hostname": func() { d.Hostname = pick(t, "hostname", n.ID, "same", "") },
		"platform": func() {
			d.Platform = &api.Platform{OS: pick(t, "os", "linux", "windows"), Architecture: pick(t, "arch", "x86_64", "aarch64")}
		},
		"resources": func() {
			d.Resources = &api.Resources{NanoCPUs: pick[int64](t, "cpus", 1e9, 4e9), MemoryBytes: pick[int64](t, "memory", 1<<30, 8<<30)}
		},
		"engine": func() {
			d.Engine = &api.EngineDescription{Labels: map[string]string{"disk": pick(t, "disk", "ssd", "hdd")}, Plugins: []api.PluginDescription{{Type: "Log", Name: pick(t, "plugin", "json-file", "splunk")}}}
		},
	}
	changes[pick(t, "what", slices.Sorted(maps.Keys(changes))...)]()
	if n.Description != nil {
		n.Description = d
	}
	return n
}

func put(t *rapid.T, store *collector.Store, objects ...any) {
	if err := store.Put(objects...); err != nil {
		t.Fatal(err)
	}
}

func remove(t *rapid.T, store *collector.Store, objects ...any) {
	if err := store.Remove(objects...); err != nil {
		t.Fatal(err)
	}
}

func TestAnEngineThatMissedChangesLooksAnew(t *testing.T) {
	t.Parallel()
	engine := NewEngine(Patience{})
	engine.Analyze(stateWith(t, web(1)), epoch)
	other := stateWith(t, web(1), taskOf(1, api.TaskStatePending, time.Minute))
	if got := engine.Analyze(other, epoch).Diagnoses; len(got) != 1 || !slices.Contains([]string{"not-retried"}, got[0].Cause) {
		t.Errorf("of a state of another store it says %+v", got)
	}
}

func TestAHolderWhoseServiceGoesIsNamedAnewOnANodeThatChanges(t *testing.T) {
	t.Parallel()
	store, s := collector.NewStore(), web(2)
	other := web(1, func(s *api.Service) { s.ID, s.Spec.Annotations.Name = "other", "holder" })
	other.Spec.Task = api.TaskSpec{}
	n := readyNode("node-1")
	holds := waiting(other, "held")
	holds.NodeID, holds.Status.State = n.ID, api.TaskStateRunning
	for _, object := range []any{s, other, n, holds, waiting(s, "task-0")} {
		if err := store.Put(object); err != nil {
			t.Fatal(err)
		}
	}
	engine := NewEngine(Patience{ProvenAtOnce: true})
	engine.Analyze(store.Snapshot(), epoch)
	labelled := n.Copy()
	labelled.Spec.Annotations.Labels = map[string]string{"env": "test"}
	if err := store.Put(labelled); err != nil {
		t.Fatal(err)
	}
	if err := store.Remove(other); err != nil {
		t.Fatal(err)
	}
	state := store.Snapshot()
	got, want := engine.Analyze(state, epoch), Analyze(state, epoch, Patience{ProvenAtOnce: true})
	if diff := cmp.Diff(want.Diagnoses, got.Diagnoses, cmpopts.IgnoreUnexported(Diagnosis{}), cmpopts.IgnoreFields(Diagnosis{}, "Waiting")); diff != "" {
		t.Errorf("the engine differs (-fresh +engine):\n%s", diff)
	}
}
