package whatif

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const gib = 1 << 30

func node(id string, memory int64) *api.Node {
	return &api.Node{
		ID: id, Spec: api.NodeSpec{Annotations: api.Annotations{Labels: map[string]string{"id": id}}},
		Status:      api.NodeStatus{State: api.NodeStatus_READY},
		Description: &api.NodeDescription{Hostname: id, Resources: &api.Resources{MemoryBytes: memory * gib, NanoCPUs: 8e9}},
	}
}

func service(name string, replicas uint64, memory int64, edit ...func(*api.ServiceSpec)) *api.Service {
	s := &api.Service{ID: name, SpecVersion: &api.Version{Index: 5}, Spec: api.ServiceSpec{
		Annotations: api.Annotations{Name: name},
		Mode:        &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: replicas}},
		Task: api.TaskSpec{
			Runtime:   &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: "image"}},
			Resources: &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: memory * gib}}, Placement: &api.Placement{},
		},
	}}
	for _, change := range edit {
		change(&s.Spec)
	}
	return s
}

// running are tasks of the service on nodes, a slot each; "" is one that waits.
func running(s *api.Service, nodes ...string) []any {
	var tasks []any
	for i, n := range nodes {
		t := &api.Task{
			ID: fmt.Sprintf("%s.%d", s.ID, i+1), ServiceID: s.ID, Slot: uint64(i + 1), NodeID: n, Spec: *s.Spec.Task.Copy(), SpecVersion: s.SpecVersion,
			Status: api.TaskStatus{State: api.TaskStateRunning}, DesiredState: api.TaskStateRunning, Endpoint: &api.Endpoint{},
		}
		if s.Spec.Endpoint != nil {
			t.Endpoint.Ports = s.Spec.Endpoint.Ports
		}
		if n == "" {
			t.Status.State = api.TaskStatePending
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// updated is a change of the service's spec.
func updated(s *api.Service, restarts bool, edit func(*api.ServiceSpec)) Change {
	spec := s.Spec.Copy()
	edit(spec)
	return Change{Services: []ServiceChange{{ID: s.ID, Spec: spec, Restarts: restarts}}}
}

func order(order api.UpdateConfig_UpdateOrder, parallelism uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Update = &api.UpdateConfig{Order: order, Parallelism: parallelism} }
}

func maxReplicas(limit uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Placement.MaxReplicas = limit }
}

func hostPort(s *api.ServiceSpec) {
	s.Endpoint = &api.EndpointSpec{Ports: []*api.PortConfig{{PublishedPort: 8080, TargetPort: 80, PublishMode: api.PublishModeHost}}}
}

func global(s *api.ServiceSpec) { s.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}} }

func drained(n *api.Node) *api.Node {
	n.Spec.Availability = api.NodeAvailabilityDrain
	return n
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
				b.Need += fmt.Sprintf("%d × %g %s beside %d × %g, free %g %s", n.Tasks, n.Each/scale(n), n.What, n.Beside, n.BesideEach/scale(n), n.Free/scale(n), n.Wanted)
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

func TestWhatAChangeWouldDo(t *testing.T) {
	t.Parallel()
	a, b := node("a", 8), node("b", 8)
	force := func(*api.ServiceSpec) {}
	for name, test := range map[string]struct {
		service *api.Service
		on      []string
		change  func(*api.Service) Change
		want    brief
	}{
		"more replicas go where there is room, and the rest waits": {
			service("web", 2, 3), []string{"a", "b"},
			func(s *api.Service) Change {
				return updated(s, false, func(spec *api.ServiceSpec) { spec.GetReplicated().Replicas = 6 })
			},
			brief{Wanted: 6, Running: 4, Waits: 2, On: map[string]int{"a": 2, "b": 2}, Cause: "insufficient-memory"},
		},
		"fewer replicas leave the fullest node": {
			service("web", 3, 1), []string{"a", "b", "b"},
			func(s *api.Service) Change {
				return updated(s, false, func(spec *api.ServiceSpec) { spec.GetReplicated().Replicas = 2 })
			},
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}, Displaced: "1 of web on b: scaled down;"},
		},
		"stop-first makes its own room": {
			service("web", 2, 7), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_STOP_FIRST, 1)) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}, Done: 2, Steps: 2},
		},
		"start-first needs room for both": {
			service("web", 2, 5), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_START_FIRST, 2)) },
			brief{
				Wanted: 2, Running: 2, Waits: 2, On: map[string]int{"a": 1, "b": 1}, Cause: "insufficient-memory", Steps: 1,
				Need: "2 × 5 memory beside 2 × 5, free 3 ",
			},
		},
		"start-first goes on in the room that its first task leaves": {
			service("web", 2, 4), []string{"a", "a"},
			func(s *api.Service) Change {
				return updated(s, true, func(spec *api.ServiceSpec) {
					order(api.UpdateConfig_START_FIRST, 2)(spec)
					spec.Task.Resources.Reservations.MemoryBytes = 5 * gib
				})
			},
			brief{
				Wanted: 2, Running: 2, Waits: 1, On: map[string]int{"a": 1, "b": 1}, Cause: "insufficient-memory", Done: 1, Steps: 2,
				Need: "1 × 5 memory beside 2 × 5, free 4 ",
			},
		},
		"an update stops where the new spec fits nowhere": {
			service("web", 2, 1), []string{"a", "b"},
			func(s *api.Service) Change {
				return updated(s, true, func(spec *api.ServiceSpec) { spec.Task.Resources.Reservations.MemoryBytes = 9 * gib })
			},
			brief{
				Wanted: 2, Running: 1, Waits: 1, On: map[string]int{"a": 0, "b": 1}, Cause: "insufficient-memory", Steps: 1,
				Need: "1 × 9 memory beside 1 × 1, free 8 ",
			},
		},
		"start-first and one replica per node exclude each other": {
			service("web", 2, 1, maxReplicas(1)), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_START_FIRST, 1)) },
			brief{
				Wanted: 2, Running: 2, Waits: 1, On: map[string]int{"a": 1, "b": 1}, Cause: "max-replicas-reached", Steps: 1,
				Need: "1 × 1 replicas beside 2 × 1, free 2 1 per node",
			},
		},
		"start-first and a host-mode port on every node exclude each other": {
			service("web", 2, 1, hostPort), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_START_FIRST, 1)) },
			brief{
				Wanted: 2, Running: 2, Waits: 1, On: map[string]int{"a": 1, "b": 1}, Cause: "host-port-taken", Steps: 1,
				Need: "1 × 0 host-port beside 2 × 0, free 0 8080/tcp",
			},
		},
		"another constraint moves only what it excludes": {
			service("web", 2, 1), []string{"a", "b"},
			func(s *api.Service) Change {
				return updated(s, false, func(spec *api.ServiceSpec) { spec.Task.Placement.Constraints = []string{"node.labels.id==a"} })
			},
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 2, "b": 0}, Done: 1, Steps: 1},
		},
		"a spec that fits now places what waited": {
			service("web", 1, 9), []string{""},
			func(s *api.Service) Change {
				return updated(s, true, func(spec *api.ServiceSpec) {
					spec.Task.Resources.Reservations.MemoryBytes = 8 * gib
					spec.Task.Placement.Constraints = []string{"node.labels.id==a"} // or the scheduler takes either
				})
			},
			brief{All: true, Wanted: 1, Running: 1, On: map[string]int{"a": 1}, Done: 1, Steps: 1},
		},
		"a drained node's tasks find room elsewhere": {
			service("web", 2, 3), []string{"a", "b"},
			func(*api.Service) Change { return Change{Nodes: []*api.Node{drained(node("b", 8))}} },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 2, "b": 0}, Displaced: "1 of web on b: drained;"},
		},
		"a drained node's tasks find no room": {
			service("web", 2, 5), []string{"a", "b"},
			func(*api.Service) Change { return Change{Nodes: []*api.Node{drained(node("b", 8))}} },
			brief{
				Wanted: 2, Running: 1, Waits: 1, On: map[string]int{"a": 1, "b": 0}, Cause: "insufficient-memory", Displaced: "1 of web on b: drained;",
			},
		},
		"a drained node's global task ends, and none is missing": {
			service("web", 0, 1, global), []string{"a", "b"},
			func(*api.Service) Change { return Change{Nodes: []*api.Node{drained(node("b", 8))}} },
			brief{All: true, Wanted: 1, Running: 1, On: map[string]int{"a": 1, "b": 0}, Displaced: "1 of web on b: drained;"},
		},
		"one more node takes what waits": {
			service("web", 3, 5), []string{"a", "b", ""},
			func(*api.Service) Change { return Change{Nodes: []*api.Node{node("c", 8)}} },
			brief{All: true, Wanted: 3, Running: 3, On: map[string]int{"a": 1, "b": 1, "c": 1}},
		},
		"one more node gets its task of a global service": {
			service("web", 0, 1, global), []string{"a", "b"},
			func(*api.Service) Change { return Change{Nodes: []*api.Node{node("c", 8)}} },
			brief{All: true, Wanted: 3, Running: 3, On: map[string]int{"a": 1, "b": 1, "c": 1}},
		},
		"a removed service leaves": {
			service("web", 1, 1), []string{"a"},
			func(s *api.Service) Change { return Change{Removed: []string{s.ID}} },
			brief{All: true, On: map[string]int{"a": 0}, Displaced: "1 of web on a: service removed;"},
		},
		"nothing changes": {
			service("web", 2, 5), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, false, force) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := collector.NewStore()
			if err := store.Put(append(running(test.service, test.on...), a, b, test.service)...); err != nil {
				t.Fatal(err)
			}
			outcome, err := Try(t.Context(), store.Snapshot(), test.change(test.service), start)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, briefly(outcome)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALongUpdateIsFollowedOnlySoFar(t *testing.T) {
	t.Parallel()
	s := service("web", mostSteps+1, 0)
	var on []string
	for range mostSteps + 1 {
		on = append(on, "a")
	}
	store := collector.NewStore()
	if err := store.Put(append(running(s, on...), node("a", 8), s)...); err != nil {
		t.Fatal(err)
	}
	outcome, err := Try(t.Context(), store.Snapshot(), updated(s, true, func(*api.ServiceSpec) {}), start)
	if err != nil {
		t.Fatal(err)
	}
	if u := outcome.Services[0].Update; !u.Capped || len(u.Steps) != mostSteps || outcome.PlacesAll || u.Stops() {
		t.Errorf("%d steps, capped %t, stops %t, places all %t", len(u.Steps), u.Capped, u.Stops(), outcome.PlacesAll)
	}
}
