package remedy

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

// updated are tasks of a service as it was before its update to a smaller reservation: they keep their former spec.
func updated(s *api.Service, memory int64, tasks ...any) []any {
	s.PreviousSpec, s.PreviousSpecVersion = s.Spec.Copy(), s.SpecVersion
	s.Spec = *s.Spec.Copy()
	reserves(memory, 0)(&s.Spec)
	s.SpecVersion = &api.Version{Index: 8}
	return append(tasks, s)
}

func TestATaskOfAFormerSpecThatFitsOnlyWithoutTheOldOnes(t *testing.T) {
	t.Parallel()
	web, stacked, large, room := service("web", 2, reserves(6*gib, 0)), service("shop_web", 2, reserves(6*gib, 0), inStack("shop"), startFirst),
		service("web", 2, reserves(6*gib, 0)), service("web", 2, reserves(6*gib, 0))
	check(t, "insufficient-memory", []example{
		{
			"all stop at once, as one by one the update may wait for the one that has no room",
			updated(web, 4*gib, node(1, memoryOf(8*gib)), on(web, 1), waiting(web, 2, 1)),
			[]string{"docker service update --update-parallelism 0 --force web | 1 on node-1 | outage 1"},
		},
		{
			"an update that starts new tasks first is to stop the old ones first",
			updated(stacked, 4*gib, node(1, memoryOf(8*gib)), on(stacked, 1), waiting(stacked, 2, 1)),
			[]string{"docker service update --update-parallelism 0 --update-order stop-first --force shop_web | 1 on node-1 | outage 1 | services.web.deploy.update_config.parallelism: 0"},
		},
		{
			"what is too large with the new spec, too, is not helped",
			updated(large, 5*gib, node(1, memoryOf(8*gib)), on(large, 1), waiting(large, 2, 1)),
			nil,
		},
		{
			"beside the old ones there is room with the new spec",
			updated(room, 2*gib, node(1, memoryOf(8*gib)), on(room, 1), waiting(room, 2, 1)),
			[]string{"docker service update --force web | 1 on node-1 | outage 1"},
		},
	})
}
