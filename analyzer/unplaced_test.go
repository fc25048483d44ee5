package analyzer

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

func TestTheSchedulerGivesUpFormerSpecsOfTasksWithoutANode(t *testing.T) {
	t.Parallel()
	service := &api.Service{ID: "web", SpecVersion: &api.Version{Index: 8}}
	for _, test := range []struct {
		name string
		task *api.Task
		want bool
	}{
		{"a task of a former spec is given up", &api.Task{SpecVersion: &api.Version{Index: 7}}, true},
		{"one of the spec as it is is not", &api.Task{SpecVersion: &api.Version{Index: 8}}, false},
		{"one of a former spec that has its node is not", &api.Task{SpecVersion: &api.Version{Index: 7}, NodeID: "node"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := &Pass{State: collector.NewStore().Snapshot()}
			if got := p.isGivenUp(service, test.task); got != test.want {
				t.Errorf("it is given up: %t, want %t", got, test.want)
			}
		})
	}
}
