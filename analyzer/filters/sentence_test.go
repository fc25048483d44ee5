package filters_test

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

func TestTheSentenceIsTheSchedulersOwn(t *testing.T) {
	t.Parallel()
	down := func(n *api.Node) { n.Status.State = api.NodeStatus_DOWN }
	drained := func(n *api.Node) { n.Spec.Availability = api.NodeAvailabilityDrain }
	prod := func(n *api.Node) { n.Spec.Annotations.Labels = map[string]string{"env": "prod"} }
	big := func(n *api.Node) { n.Description.Resources.MemoryBytes = 1 << 40 }
	needsMuch := func(t *api.Task) {
		t.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 1 << 35}}
	}
	needsProd := func(t *api.Task) { t.Spec.Placement = &api.Placement{Constraints: []string{"node.labels.env==prod"}} }
	on := func(id string) func(*api.Task) { return func(t *api.Task) { t.NodeID = id } }
	for name, test := range map[string]struct {
		nodes []*api.Node
		task  *api.Task
		want  string
	}{
		"a cluster without nodes has nothing to explain": {nil, pending(), "no suitable node"},
		"a node that takes the task ends the sentence":   {[]*api.Node{node("a", down), node("b")}, pending(), ""},
		"one node is no plural":                          {[]*api.Node{node("a", down)}, pending(), "no suitable node (1 node not available for new tasks)"},
		"a node counts under the first filter that refuses it": {
			[]*api.Node{node("a", drained), node("b", prod)}, pending(needsMuch, needsProd),
			"no suitable node (1 node not available for new tasks; insufficient resources on 1 node)",
		},
		"the most frequent comes first": {
			[]*api.Node{node("a", down), node("b", big), node("c", big), node("d", big), node("e"), node("f")}, pending(needsMuch, needsProd),
			"no suitable node (scheduling constraints not satisfied on 3 nodes; insufficient resources on 2 nodes; 1 node not available for new tasks)",
		},
		"ties stand in pipeline order": {
			[]*api.Node{node("a", big), node("b"), node("c", drained)}, pending(needsProd, needsMuch),
			"no suitable node (1 node not available for new tasks; insufficient resources on 1 node; scheduling constraints not satisfied on 1 node)",
		},
		"a preassigned task gets the bare reason":                        {[]*api.Node{node("a"), node("b", down)}, pending(needsMuch, on("a")), "insufficient resources on 1 node"},
		"a preassigned task that its node takes gets none":               {[]*api.Node{node("a"), node("b", down)}, pending(on("a")), ""},
		"a preassigned task whose node is gone gets none":                {[]*api.Node{node("a", down)}, pending(on("gone")), ""},
		"the filters that stand last in the pipeline have their say too": {[]*api.Node{node("a")}, pending(mounting("data")), "no suitable node (cannot fulfill requested CSI volume mounts on 1 node)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := filters.NewCluster(state(t, test.nodes))
			if got := cluster.Sentence(test.task, cluster.Judge(test.task)); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestTheLimitOfReplicasIsSaidWithoutACount(t *testing.T) {
	t.Parallel()
	limited := func(t *api.Task) { t.Spec.Placement = &api.Placement{MaxReplicas: 1} }
	running := func(node string) func(*api.Task) {
		return func(t *api.Task) { t.ID, t.NodeID, t.Status.State = "on "+node, node, api.TaskStateRunning }
	}
	cluster := filters.NewCluster(state(t, []*api.Node{node("a"), node("b")}, pending(running("a")), pending(running("b"))))
	task := pending(limited)
	const want = "no suitable node (max replicas per node limit exceed)"
	if got := cluster.Sentence(task, cluster.Judge(task)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSomeTasksArePassedOverInSilence(t *testing.T) {
	t.Parallel()
	version := func(n uint64) func(*api.Task) {
		return func(t *api.Task) { t.SpecVersion = &api.Version{Index: n} }
	}
	on := func(id string) func(*api.Task) { return func(t *api.Task) { t.NodeID = id } }
	stopping := func(t *api.Task) { t.DesiredState = api.TaskStateShutdown }
	isNew := func(t *api.Task) { t.Status.State = api.TaskStateNew }
	service := &api.Service{ID: "web", SpecVersion: &api.Version{Index: 7}}
	for name, test := range map[string]struct {
		task    *api.Task
		service *api.Service
		want    bool
	}{
		"a task of the present spec is answered":       {pending(version(7)), service, true},
		"a task of no known spec is answered":          {pending(), service, true},
		"a task of an older spec is not":               {pending(version(6)), service, false},
		"a task of a newer spec than we know is":       {pending(version(8)), service, true},
		"a task whose service is gone is not":          {pending(version(7)), nil, false},
		"a preassigned task of an older spec is":       {pending(version(6), on("a")), service, true},
		"a preassigned task whose service is gone is":  {pending(on("a")), nil, true},
		"a preassigned task whose node is gone is not": {pending(on("gone")), service, false},
		"a task that should stop is not":               {pending(stopping), service, false},
		"a preassigned task that should stop is not":   {pending(stopping, on("a")), service, false},
		"a task that waits for the allocator is not":   {pending(isNew), service, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := filters.NewCluster(state(t, []*api.Node{node("a")})).Answers(test.task, test.service); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func node(id string, changes ...func(*api.Node)) *api.Node {
	n := &api.Node{
		ID: id, Status: api.NodeStatus{State: api.NodeStatus_READY},
		Description: &api.NodeDescription{Hostname: id, Resources: &api.Resources{NanoCPUs: 4e9, MemoryBytes: 1 << 34}},
	}
	for _, change := range changes {
		change(n)
	}
	return n
}

func pending(changes ...func(*api.Task)) *api.Task {
	t := &api.Task{
		ID: "waiting", ServiceID: "web", DesiredState: api.TaskStateRunning, Status: api.TaskStatus{State: api.TaskStatePending},
		Spec: api.TaskSpec{Runtime: &api.TaskSpec_Container{Container: &api.ContainerSpec{}}},
	}
	for _, change := range changes {
		change(t)
	}
	return t
}

// mounting mounts cluster volumes by these sources.
func mounting(sources ...string) func(*api.Task) {
	return func(t *api.Task) {
		for _, source := range sources {
			mount := api.Mount{Type: api.MountTypeCluster, Source: source, Target: "/" + source}
			t.Spec.GetContainer().Mounts = append(t.Spec.GetContainer().Mounts, mount)
		}
	}
}

func state(t *testing.T, nodes []*api.Node, others ...any) *collector.State {
	t.Helper()
	var objects []any
	for _, n := range nodes {
		objects = append(objects, n)
	}
	s := collector.NewStore()
	if err := s.Replace(append(objects, others...)); err != nil {
		t.Fatal(err)
	}
	return s.Snapshot()
}
