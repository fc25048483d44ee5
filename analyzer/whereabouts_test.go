package analyzer

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// rackNode is a ready node in a zone and a rack; an empty one is not set.
func rackNode(id, zone, rack string, changes ...func(*api.Node)) *api.Node {
	n := readyNode(id)
	n.Spec.Annotations.Labels = map[string]string{}
	if zone != "" {
		n.Spec.Annotations.Labels["zone"] = zone
	}
	n.Description.Engine = &api.EngineDescription{Labels: map[string]string{"rack": rack}}
	for _, change := range changes {
		change(n)
	}
	return n
}

func running(id, node string) *api.Task {
	return taskOf(1, api.TaskStateRunning, time.Hour, func(t *api.Task) { t.ID, t.NodeID = id, node })
}

func placed(constraints []string, spreads ...string) func(*api.Service) {
	return func(s *api.Service) {
		s.Spec.Task.Placement = &api.Placement{Constraints: constraints}
		for _, descriptor := range spreads {
			s.Spec.Task.Placement.Preferences = append(s.Spec.Task.Placement.Preferences, &api.PlacementPreference{
				Preference: &api.PlacementPreference_Spread{Spread: &api.SpreadOver{SpreadDescriptor: descriptor}},
			})
		}
	}
}

func TestWhereaboutsTellWhatFiltersLeave(t *testing.T) {
	t.Parallel()
	paused := func(n *api.Node) { n.Spec.Availability = api.NodeAvailabilityPause }
	state := stateWith(t, web(3, placed([]string{"node.hostname!=node-1"}), func(s *api.Service) {
		s.Spec.Task.Placement.Platforms = []*api.Platform{{OS: "linux", Architecture: "amd64"}}
	}),
		rackNode("node-2", "east", "a", func(n *api.Node) { n.Description.Platform = &api.Platform{OS: "linux", Architecture: "x86_64"} }),
		rackNode("node-3", "east", "a", func(n *api.Node) { n.Description.Platform = &api.Platform{OS: "linux", Architecture: "aarch64"} }),
		rackNode("node-4", "west", "a", paused, func(n *api.Node) { n.Description.Platform = &api.Platform{OS: "linux", Architecture: "amd64"} }),
		running("t1", "node-2"), running("t2", "node-2"), running("t3", "node-4"),
		taskOf(4, api.TaskStateRunning, time.Hour, func(t *api.Task) { t.ID, t.NodeID, t.DesiredState = "t4", "node-4", api.TaskStateShutdown }),
	)
	want := Whereabouts{
		On: []NodeCount{{"node-2", 2}, {"node-4", 1}}, Nodes: 4, Takes: []string{"node-2"},
		Left: []Left{
			{filters.Constraints, []string{"node.hostname!=node-1"}, 3},
			{filters.Platform, []string{"linux/amd64"}, 2},
			{filters.Ready, nil, 1},
		},
	}
	if diff := cmp.Diff(want, WhereaboutsOf(state, state.Service("web"), epoch)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheSpreadTreeIsThatOfTheScheduler(t *testing.T) {
	t.Parallel()
	state := stateWith(t, web(4, placed([]string{"node.labels.zone!=north"}, "node.id", "NODE.labels.zone", "engine.labels.rack")),
		rackNode("node-2", "east", "a"), rackNode("node-3", "east", "b"), rackNode("node-4", "west", "a"), rackNode("node-5", "north", "a"),
		running("t1", "node-1"), running("t2", "node-2"), running("t3", "node-2"), running("t4", "node-4"),
	)
	leaf := func(value string, tasks, takes int) *Branch { return &Branch{Value: value, Tasks: tasks, Takes: takes} }
	branch := func(value string, tasks, takes int, below ...*Branch) *Branch {
		return &Branch{Value: value, Tasks: tasks, Takes: takes, By: "engine.labels.rack", Branches: below}
	}
	want := &Branch{Tasks: 4, Takes: 4, By: "NODE.labels.zone", Branches: []*Branch{
		branch("", 1, 1, leaf("", 1, 1)),
		branch("east", 2, 2, leaf("a", 2, 1), leaf("b", 0, 1)),
		branch("north", 0, 0, leaf("a", 0, 0)),
		branch("west", 1, 1, leaf("a", 1, 1)),
	}}
	if diff := cmp.Diff(want, WhereaboutsOf(state, state.Service("web"), epoch).Spread); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestANodeWhereFiveTasksOfThisVersionFailedIsAvoided(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tasks   int
		age     time.Duration
		changes []func(*api.Task)
		global  bool
		want    int
	}{
		"five of this version":       {tasks: 5, age: time.Minute, want: 5},
		"four of this version":       {tasks: 4, age: time.Minute},
		"five that are older":        {tasks: 5, age: 5 * time.Minute},
		"five of the version before": {tasks: 5, age: time.Minute, changes: []func(*api.Task){func(t *api.Task) { t.SpecVersion = &api.Version{Index: 1} }}},
		"five that were shut down":   {tasks: 5, age: time.Minute, changes: []func(*api.Task){func(t *api.Task) { t.Status.State = api.TaskStateShutdown }}},
		"six that were rejected":     {tasks: 6, age: time.Minute, changes: []func(*api.Task){func(t *api.Task) { t.Status.State = api.TaskStateRejected }}, want: 6},
		"five of a global service":   {tasks: 5, age: time.Minute, global: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := web(1)
			if c.global {
				s.Spec.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}}
			}
			objects := []any{s}
			for i := range c.tasks {
				number := func(t *api.Task) { t.ID = fmt.Sprint("failed-", i) }
				objects = append(objects, taskOf(1, api.TaskStateFailed, c.age, append(c.changes, number)...))
			}
			state := stateWith(t, objects...)
			got := 0
			for _, n := range WhereaboutsOf(state, s, epoch).Failing {
				got += n.Tasks
			}
			if got != c.want {
				t.Errorf("%d failures are told, want %d", got, c.want)
			}
		})
	}
}
