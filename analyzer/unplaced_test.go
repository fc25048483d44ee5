package analyzer

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

func TestTheSchedulerGivesUpFormerSpecsOfTasksWithoutANode(t *testing.T) {
	t.Parallel()
	service := &api.Service{ID: "web", SpecVersion: &api.Version{Index: 8}}
	for _, test := range []struct {
		name    string
		release string // of the leader
		task    *api.Task
		want    bool
	}{
		{"a task of a former spec is given up", "27.5.1", &api.Task{SpecVersion: &api.Version{Index: 7}}, true},
		{"one of the spec as it is is not", "27.5.1", &api.Task{SpecVersion: &api.Version{Index: 8}}, false},
		{"one of a former spec that has its node is not", "27.5.1", &api.Task{SpecVersion: &api.Version{Index: 7}, NodeID: "node"}, false},
		{"releases before 20.10.4 give none up", "20.10.3", &api.Task{SpecVersion: &api.Version{Index: 7}}, false},
		{"where the release is unknown, it is given up", "", &api.Task{SpecVersion: &api.Version{Index: 7}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			store := collector.NewStore()
			if err := store.Put(&api.Node{
				ID: "leader", ManagerStatus: &api.ManagerStatus{Leader: true},
				Description: &api.NodeDescription{Engine: &api.EngineDescription{EngineVersion: test.release}},
			}); err != nil {
				t.Fatal(err)
			}
			state := store.Snapshot()
			p := &Pass{State: state, Cluster: filters.NewCluster(state)}
			if got := p.isGivenUp(service, test.task); got != test.want {
				t.Errorf("it is given up: %t, want %t", got, test.want)
			}
		})
	}
}
