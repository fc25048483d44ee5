package remedy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	gib  = 1 << 30
	core = 1e9
)

// epoch is when all tasks were made; later is when they are looked at.
var (
	epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	later = epoch.Add(time.Hour)
)

// node is ready and active, with four cores and 8 GiB. The first is the leader.
func node(number int, set ...func(*api.Node)) *api.Node {
	n := &api.Node{
		ID:     fmt.Sprintf("id%d", number),
		Role:   api.NodeRoleWorker,
		Status: api.NodeStatus{State: api.NodeStatus_READY, Addr: fmt.Sprintf("192.0.2.%d", number)},
		Description: &api.NodeDescription{
			Hostname:  fmt.Sprintf("node-%d", number),
			Platform:  &api.Platform{OS: "linux", Architecture: "x86_64"},
			Resources: &api.Resources{NanoCPUs: 4 * core, MemoryBytes: 8 * gib},
			Engine:    &api.EngineDescription{EngineVersion: "27.5.1", Plugins: []api.PluginDescription{{Type: "Volume", Name: "local"}, {Type: "Log", Name: "json-file"}}},
		},
	}
	if number == 1 {
		n.Role, n.ManagerStatus = api.NodeRoleManager, &api.ManagerStatus{Leader: true, Reachability: api.RaftMemberStatus_REACHABLE}
	}
	for _, s := range set {
		s(n)
	}
	return n
}

func labelled(key, value string) func(*api.Node) {
	return func(n *api.Node) {
		if n.Spec.Annotations.Labels == nil {
			n.Spec.Annotations.Labels = map[string]string{}
		}
		n.Spec.Annotations.Labels[key] = value
	}
}

func drained(n *api.Node) { n.Spec.Availability = api.NodeAvailabilityDrain }
func paused(n *api.Node)  { n.Spec.Availability = api.NodeAvailabilityPause }
func down(n *api.Node)    { n.Status.State = api.NodeStatus_DOWN }

func memoryOf(bytes int64) func(*api.Node) {
	return func(n *api.Node) { n.Description.Resources.MemoryBytes = bytes }
}

func offers(kind string, pieces int64) func(*api.Node) {
	return func(n *api.Node) {
		n.Description.Resources.Generic = append(n.Description.Resources.Generic, genericresource.NewDiscrete(kind, pieces))
	}
}

// service is replicated, updated one task at a time, the old one stopped first.
func service(name string, replicas uint64, set ...func(*api.ServiceSpec)) *api.Service {
	s := &api.Service{
		ID: "service-" + name, SpecVersion: &api.Version{Index: 7},
		Spec: api.ServiceSpec{
			Annotations: api.Annotations{Name: name},
			Mode:        &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: replicas}},
			Update:      &api.UpdateConfig{Parallelism: 1},
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
	s.Endpoint = endpointOf(s)
	return s
}

func reserves(memory, nanoCPUs int64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.Resources.Reservations.MemoryBytes, s.Task.Resources.Reservations.NanoCPUs = memory, nanoCPUs
	}
}

func reservesGeneric(kind string, pieces int64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.Resources.Reservations.Generic = append(s.Task.Resources.Reservations.Generic, genericresource.NewDiscrete(kind, pieces))
	}
}

func constrained(constraints ...string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Placement.Constraints = constraints }
}

func publishes(port uint32) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Endpoint = &api.EndpointSpec{Ports: []*api.PortConfig{{TargetPort: 80, PublishedPort: port, PublishMode: api.PublishModeHost}}}
	}
}

func inStack(name string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Annotations.Labels = map[string]string{labelStack: name} }
}

func startFirst(s *api.ServiceSpec) { s.Update.Order = api.UpdateConfig_START_FIRST }
func global(s *api.ServiceSpec)     { s.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}} }

// on makes running tasks of a service in its first slots, one on each of the nodes.
func on(s *api.Service, nodes ...int) []any {
	var tasks []any
	for i, number := range nodes {
		t := newTask(s, i+1, api.TaskStateRunning)
		t.NodeID = fmt.Sprintf("id%d", number)
		tasks = append(tasks, t)
	}
	return tasks
}

// waiting makes pending tasks of a service from a slot on.
func waiting(s *api.Service, slot, number int) []any {
	var tasks []any
	for i := range number {
		tasks = append(tasks, newTask(s, slot+i, api.TaskStatePending))
	}
	return tasks
}

// waitingOn makes the pending tasks of a global service on nodes.
func waitingOn(s *api.Service, nodes ...int) []any {
	var tasks []any
	for _, number := range nodes {
		t := newTask(s, 0, api.TaskStatePending)
		t.NodeID = fmt.Sprintf("id%d", number)
		t.ID += t.NodeID
		tasks = append(tasks, t)
	}
	return tasks
}

func newTask(s *api.Service, slot int, state api.TaskState) *api.Task {
	at := epoch
	if state == api.TaskStatePending {
		at = at.Add(time.Minute)
	}
	made, err := gogotypes.TimestampProto(at)
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

// diagnosed analyzes the state, and picks the diagnosis of a cause.
func diagnosed(t *testing.T, state *collector.State, cause string) *analyzer.Diagnosis {
	t.Helper()
	result := analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true})
	i := slices.IndexFunc(result.Diagnoses, func(d analyzer.Diagnosis) bool { return d.Cause == cause })
	if i < 0 {
		t.Fatalf("no diagnosis has the cause %s: %+v", cause, result.Diagnoses)
	}
	return &result.Diagnoses[i]
}

// remediesOf returns what is found for the diagnosis of a cause.
func remediesOf(t *testing.T, state *collector.State, cause string) []analyzer.Remedy {
	t.Helper()
	found, err := Find(t.Context(), state, diagnosed(t, state, cause))
	if err != nil {
		t.Fatal(err)
	}
	if found.Ended {
		t.Error("the search ended before its time")
	}
	return found.Remedies
}

// example is a state, and what helps in it.
type example struct {
	name    string
	objects []any
	// want are remedies in brief, see brief.
	want []string
}

// check holds what is found for a cause against the examples.
func check(t *testing.T, cause string, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range remediesOf(t, stateOf(t, e.objects...), cause) {
				got = append(got, brief(r))
			}
			if diff := cmp.Diff(e.want, got); diff != "" {
				t.Errorf("remedies (-want +got):\n%s\ngot:\n%s", diff, strings.Join(got, "\n"))
			}
		})
	}
}

// brief writes a remedy without its notes: where it runs if not on a manager, the command, what it places and where, its
// risk with the number of restarts, and where the same is in a stack's file.
func brief(r analyzer.Remedy) string {
	var text strings.Builder
	if r.At != "" {
		fmt.Fprintf(&text, "at %s: ", r.At)
	}
	fmt.Fprintf(&text, "%s | ", r.Command)
	if r.Verified {
		fmt.Fprintf(&text, "%d on %s", r.Places, strings.Join(r.On, ", "))
	} else {
		text.WriteString("not verified")
	}
	fmt.Fprintf(&text, " | %s", r.Risk)
	if r.Restarts > 0 {
		fmt.Fprintf(&text, " %d", r.Restarts)
	}
	if r.Compose != nil {
		fmt.Fprintf(&text, " | %s: %s", r.Compose.Path, r.Compose.Value)
	}
	return text.String()
}

// list flattens objects and slices of them.
func list(objects ...any) []any { return objects }
