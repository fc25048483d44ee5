package oracle

import (
	"slices"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
)

// TestTasksOnANodeClaimTheSameWhoeverComesFirst holds what is drawn against swarmkit, which reads the tasks of a node in no order.
func TestTasksOnANodeClaimTheSameWhoeverComesFirst(t *testing.T) {
	t.Parallel()
	ask := func(gpus, ssds int64) []*api.GenericResource {
		return []*api.GenericResource{genericresource.NewDiscrete("gpu", gpus), genericresource.NewDiscrete("ssd", ssds)}
	}
	offer := append(genericresource.NewSet("gpu", "a", "b"), genericresource.NewDiscrete("ssd", 3))
	for name, test := range map[string]struct {
		asks [][]*api.GenericResource
		want int // of these may be on the node
	}{
		"as much as there is":                     {[][]*api.GenericResource{ask(1, 2), ask(1, 1)}, 2},
		"none of a kind that another one uses up": {[][]*api.GenericResource{ask(1, 0), {genericresource.NewDiscrete("ssd", 3)}}, 1},
		"none of a kind of which one is left":     {[][]*api.GenericResource{ask(1, 0), {genericresource.NewDiscrete("ssd", 2)}}, 2},
		"none of a kind that is used up":          {[][]*api.GenericResource{{genericresource.NewDiscrete("ssd", 3)}, ask(1, 0)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClaims([]*api.Node{{ID: "node", Description: &api.NodeDescription{Resources: &api.Resources{Generic: offer}}}})
			var there [][]*api.GenericResource
			for _, asked := range test.asks {
				task := &api.Task{NodeID: "node", Spec: api.TaskSpec{Resources: &api.ResourceRequirements{Reservations: &api.Resources{Generic: asked}}}}
				if c.add(task) {
					there = append(there, asked)
				}
			}
			if len(there) != test.want {
				t.Errorf("%d are on the node, want %d", len(there), test.want)
			}
			forwards := left(offer, there)
			slices.Reverse(there)
			if backwards := left(offer, there); forwards != backwards {
				t.Errorf("%s is left, and %s the other way round", forwards, backwards)
			}
		})
	}
}

// left is what swarmkit has left of an offer after claims in this order.
func left(offer []*api.GenericResource, asks [][]*api.GenericResource) string {
	available := &api.Resources{Generic: offer}
	available = available.Copy()
	for _, asked := range asks {
		var claimed []*api.GenericResource
		_ = genericresource.Claim(&available.Generic, &claimed, asked) // as in NodeInfo.addTask
	}
	slices.SortFunc(available.Generic, func(a, b *api.GenericResource) int { return len(a.String()) - len(b.String()) })
	return available.String()
}
