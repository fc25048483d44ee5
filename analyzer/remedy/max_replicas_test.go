package remedy

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

func atMost(replicas uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Placement.MaxReplicas = replicas }
}

func TestMaxReplicasReached(t *testing.T) {
	t.Parallel()
	var (
		web    = service("shop_web", 5, atMost(1), inStack("shop"))
		rolled = service("web", 1, atMost(1), startFirst)
	)
	old := on(rolled, 1)
	rolled.SpecVersion = &api.Version{Index: 8}
	rolled.Spec.Task.ForceUpdate++
	without := service("web", 2, atMost(1))
	limited := withoutVersions(waiting(without, 2, 1))
	runs := on(without, 1)
	without.Spec.Task.Placement = nil
	check(t, "max-replicas-reached", []example{
		{
			"the least limit is set that leaves room for all, which restarts nothing, or a node is activated",
			list(node(1), node(2), node(3, paused), web, on(web, 1, 2), waiting(web, 3, 3)),
			[]string{
				"docker service update --replicas-max-per-node 3 shop_web | 3 on node-1, node-2 | none | services.web.deploy.placement.max_replicas_per_node: 3",
				"docker node update --availability active node-3 | 1 on node-3 | none",
			},
		},
		{
			"a limit that the service no longer has is not raised",
			list(node(1), without, runs, limited),
			nil,
		},
		{
			"under start-first the old task stops first",
			list(node(1), rolled, old, waiting(rolled, 1, 1)),
			[]string{
				"docker service update --replicas-max-per-node 2 web | 1 on node-1 | restarts 1",
				"docker service update --update-order stop-first --force web | 1 on node-1 | outage 1",
			},
		},
	})
}

// withoutVersions makes tasks such as a source shows that hides the versions of specs.
func withoutVersions(tasks []any) []any {
	for _, object := range tasks {
		object.(*api.Task).SpecVersion = nil
	}
	return tasks
}
