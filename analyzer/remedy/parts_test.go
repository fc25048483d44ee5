package remedy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

func TestChangesThatPlaceAPartAreMadeTogether(t *testing.T) {
	t.Parallel()
	var (
		big    = service("web", 2, reserves(6*gib, 0), constrained("node.role==worker"))
		small  = service("web", 2, constrained("node.role==worker"))
		single = service("web", 2, constrained("node.role==worker"), func(s *api.ServiceSpec) { s.Task.Placement.MaxReplicas = 1 })
	)
	check(t, "no-available-node", []example{
		{
			"two nodes have room for one task each",
			list(node(1), node(2, drained), node(3, paused), big, waiting(big, 1, 2)),
			[]string{
				"docker node update --availability active node-2 && docker node update --availability active node-3 | 2 on node-2, node-3 | none",
				"docker node update --availability active node-2 | 1 on node-2 | none",
				"docker node update --availability active node-3 | 1 on node-3 | none",
			},
		},
		{
			"nothing is added to a change that places all",
			list(node(1), node(2, drained), node(3, paused), small, waiting(small, 1, 2)),
			[]string{
				"docker node update --availability active node-2 | 2 on node-2 | none",
				"docker node update --availability active node-3 | 2 on node-3 | none",
			},
		},
		{
			"a node that refuses for two reasons is opened for the rest",
			list(node(1), node(2, drained), node(3, drained), single, on(single, 3), waiting(single, 2, 2)),
			[]string{
				"docker node update --availability active node-3 && docker service update --replicas-max-per-node 3 web | 2 on node-3 | none",
				"docker node update --availability active node-2 | 1 on node-2 | none",
			},
		},
	})
}

func TestPartsOfTheSameThingAreNotPutTogether(t *testing.T) {
	t.Parallel()
	change := func(verb, object string, places int) part {
		return part{[]proposal{{commands: []command{{verb: verb, object: object}}}}, places}
	}
	parts := []part{change("a", "1", 1), change("b", "1", 3), change("a", "2", 2), change("a", "1", 1), change("c", "9", 0)}
	var got []string
	for _, set := range combinations(parts) {
		var commands []command
		for _, p := range set {
			commands = append(commands, p.commands...)
		}
		got = append(got, line(commands))
	}
	want := []string{"b 1 && a 2", "b 1 && a 1", "a 2 && a 1", "b 1 && a 1", "a 2 && a 1", "b 1 && a 2 && a 1", "b 1 && a 2 && a 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sets (-want +got):\n%s", diff)
	}
}
