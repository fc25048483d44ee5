package remedy

import (
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

func managing(n *api.Node) {
	n.Role, n.ManagerStatus = api.NodeRoleManager, &api.ManagerStatus{Reachability: api.RaftMemberStatus_REACHABLE}
}

func lost(n *api.Node) {
	n.Role, n.ManagerStatus = api.NodeRoleManager, &api.ManagerStatus{Reachability: api.RaftMemberStatus_UNREACHABLE}
}

func TestRoleThatAConstraintAsksFor(t *testing.T) {
	t.Parallel()
	var (
		manager = service("web", 1, constrained("node.role==manager", "node.hostname==node-2"))
		not     = service("web", 1, constrained("node.role!=worker", "node.hostname==node-2"))
		worker  = service("web", 1, constrained("node.role==worker"))
		proxy   = service("proxy", 1, constrained("node.role==manager"))
		takeOff = "docker service update --constraint-rm 'node.role==worker' web | 1 on "
	)
	check(t, "placement-constraint", []example{
		{
			"a node that meets the rest is made a manager",
			list(node(1), node(2), manager, waiting(manager, 1, 1)),
			[]string{"docker node promote node-2 | 1 on node-2 | none"},
		},
		{
			"no worker is a manager",
			list(node(1), node(2), not, waiting(not, 1, 1)),
			[]string{"docker node promote node-2 | 1 on node-2 | none"},
		},
		{
			"a manager is made a worker while a majority stays, the leader last, and who has to leave it is told",
			list(node(1), node(2, managing), node(3, managing), worker, waiting(worker, 1, 1), proxy, on(proxy, 2)),
			[]string{
				"docker node demote node-3 | 1 on node-3 | none",
				"docker node demote node-2 | 1 on node-2 | outage 1",
			},
		},
		{
			"the only manager stays one",
			list(node(1), worker, waiting(worker, 1, 1)),
			[]string{takeOff + "node-1 | none"},
		},
		{
			"of two managers both stay",
			list(node(1), node(2, managing), worker, waiting(worker, 1, 1)),
			[]string{takeOff + "node-1, node-2 | none"},
		},
		{
			"of three managers all stay while one is lost, but for that one",
			list(node(1), node(2, managing), node(3, lost), worker, waiting(worker, 1, 1)),
			[]string{"docker node demote node-3 | 1 on node-3 | none"},
		},
	})
}

func TestAnEvenNumberOfManagersIsTold(t *testing.T) {
	t.Parallel()
	web := service("web", 1, constrained("node.role==manager", "node.labels.here==yes"))
	here := labelled("here", "yes")
	for _, test := range []struct {
		name   string
		nodes  []any
		isEven bool
	}{
		{"a second manager", list(node(1), node(2, here)), true},
		{"a third manager", list(node(1), node(2, here), node(3, managing)), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := withCommand(t, remediesOf(t, stateOf(t, append(test.nodes, web, waiting(web, 1, 1))...), "placement-constraint"), "docker node promote node-2")
			if told := strings.Contains(r.Note, "an odd number is better"); told != test.isEven {
				t.Errorf("the note is %q", r.Note)
			}
		})
	}
}
