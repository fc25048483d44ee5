package capacity

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

const gib = 1 << 30

// epoch is when all tasks were made; they are looked at an hour later.
var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// node is a ready and active worker with four cores and 8 GiB.
func node(number int, set ...func(*api.Node)) *api.Node {
	n := &api.Node{
		ID:     fmt.Sprintf("id%d", number),
		Spec:   api.NodeSpec{Annotations: api.Annotations{Labels: map[string]string{}}},
		Status: api.NodeStatus{State: api.NodeStatus_READY, Addr: fmt.Sprintf("192.0.2.%d", number)},
		Description: &api.NodeDescription{
			Hostname: fmt.Sprintf("node-%d", number), Platform: &api.Platform{OS: "linux", Architecture: "x86_64"},
			Resources: &api.Resources{NanoCPUs: 4e9, MemoryBytes: 8 * gib},
			Engine:    &api.EngineDescription{EngineVersion: "27.5.1", Plugins: []api.PluginDescription{{Type: "Volume", Name: "local"}}},
		},
	}
	for _, s := range set {
		s(n)
	}
	return n
}

func drained(n *api.Node) { n.Spec.Availability = api.NodeAvailabilityDrain }
func down(n *api.Node)    { n.Status.State = api.NodeStatus_DOWN }

func labelled(key, value string) func(*api.Node) {
	return func(n *api.Node) { n.Spec.Annotations.Labels[key] = value }
}

func sized(memory int64) func(*api.Node) {
	return func(n *api.Node) { n.Description.Resources.MemoryBytes = memory }
}

func service(name string, replicas uint64, set ...func(*api.ServiceSpec)) *api.Service {
	s := &api.Service{
		ID: "service-" + name, SpecVersion: &api.Version{Index: 7},
		Spec: api.ServiceSpec{
			Annotations: api.Annotations{Name: name},
			Mode:        &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: replicas}},
			Task: api.TaskSpec{
				Runtime:   &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: "app:1"}},
				Resources: &api.ResourceRequirements{Reservations: &api.Resources{}},
				Placement: &api.Placement{},
			},
		},
	}
	for _, f := range set {
		f(&s.Spec)
	}
	if s.Spec.Endpoint != nil {
		s.Endpoint = &api.Endpoint{Ports: s.Spec.Endpoint.Ports}
	}
	return s
}

func reserves(memory int64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Resources.Reservations.MemoryBytes = memory }
}

func constrained(constraints ...string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Placement.Constraints = constraints }
}

func global(s *api.ServiceSpec) { s.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}} }

func withVolume(driver string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.GetContainer().Mounts = []api.Mount{{
			Type: api.MountTypeVolume, Source: "data", Target: "/data",
			VolumeOptions: &api.Mount_VolumeOptions{DriverConfig: &api.Driver{Name: driver}},
		}}
	}
}

// on makes running tasks of a service, one on each of the nodes; waiting makes pending ones.
func on(s *api.Service, nodes ...int) []any {
	var tasks []any
	for i, number := range nodes {
		t := newTask(s, i+1, api.TaskStateRunning)
		t.NodeID = fmt.Sprintf("id%d", number)
		tasks = append(tasks, t)
	}
	return tasks
}

func waiting(s *api.Service, number int) []any {
	var tasks []any
	for i := range number {
		tasks = append(tasks, newTask(s, i+1, api.TaskStatePending))
	}
	return tasks
}

func newTask(s *api.Service, slot int, state api.TaskState) *api.Task {
	made, err := gogotypes.TimestampProto(epoch)
	if err != nil {
		panic(err)
	}
	return &api.Task{
		ID: fmt.Sprintf("%s.%d.%s", s.Spec.Annotations.Name, slot, strings.ToLower(state.String())), ServiceID: s.ID, Slot: uint64(slot),
		Meta: api.Meta{CreatedAt: made}, Spec: s.Spec.Task, SpecVersion: s.SpecVersion, Endpoint: s.Endpoint,
		Status: api.TaskStatus{State: state}, DesiredState: api.TaskStateRunning,
	}
}

// stateOf puts objects, and slices of them, into a state.
func stateOf(t testing.TB, objects ...any) *collector.State {
	t.Helper()
	var flat []any
	for _, o := range objects {
		if several, is := o.([]any); is {
			flat = append(flat, several...)
		} else {
			flat = append(flat, o)
		}
	}
	store := collector.NewStore()
	if err := store.Replace(flat); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}

func diagnoses(state *collector.State) []analyzer.Diagnosis {
	return analyzer.Analyze(state, epoch.Add(time.Hour), analyzer.Patience{ProvenAtOnce: true}).Diagnoses
}
