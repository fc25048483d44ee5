package remedy

import "testing"

func TestNoAvailableNode(t *testing.T) {
	t.Parallel()
	var (
		web  = service("web", 2, constrained("node.role==worker"))
		logs = service("logs", 0, global)
		big  = service("web", 1, reserves(16*gib, 0))
		half = service("web", 1, constrained("node.role==worker"), reserves(5*gib, 0))
	)
	check(t, "no-available-node", []example{
		{
			"nodes that are drained or paused are activated",
			list(node(1), node(2, drained), node(3, paused), web, waiting(web, 1, 2)),
			[]string{
				"docker node update --availability active node-2 | 2 on node-2 | none",
				"docker node update --availability active node-3 | 2 on node-3 | none",
			},
		},
		{
			"a node that is down is mended there",
			list(node(1), node(2, down), web, waiting(web, 1, 2)),
			[]string{"at node-2: systemctl start docker | not verified | none"},
		},
		{
			"what was told to stop on a node that is down stops once it is back",
			list(node(1), node(2, down), half, toldToStop(on(half, 2)), waiting(half, 1, 1)),
			[]string{"at node-2: systemctl start docker | not verified | none"},
		},
		{
			"the task of a global service waits for its own node",
			list(node(1), node(2, paused), logs, on(logs, 1), waitingOn(logs, 2)),
			[]string{"docker node update --availability active node-2 | 1 on node-2 | none"},
		},
		{
			"a drained node that is too small takes two changes",
			list(node(1, drained), big, waiting(big, 1, 1)),
			[]string{"docker node update --availability active node-1 && docker service update --reserve-memory 8GiB web | 1 on node-1 | none"},
		},
	})
}

func TestNoEligibleNode(t *testing.T) {
	t.Parallel()
	var (
		logs = service("logs", 0, global, constrained("node.labels.logs==yes"))
		all  = service("logs", 0, global)
		job  = service("logs", 0, globalJob, constrained("node.labels.logs==yes"))
	)
	check(t, "no-eligible-node", []example{
		{
			"a node is given the label",
			list(node(1), logs),
			[]string{"docker node update --label-add 'logs=yes' node-1 | 1 on node-1 | none"},
		},
		{
			"a node is activated, and gets its task",
			list(node(1, drained), all),
			[]string{"docker node update --availability active node-1 | 1 on node-1 | none"},
		},
		{
			"a drained node without the label takes two changes in one update",
			list(node(1, drained), logs),
			[]string{"docker node update --availability active --label-add 'logs=yes' node-1 | 1 on node-1 | none"},
		},
		{
			"a global job gets no task on a node that matches only later, until it begins anew",
			list(node(1), job),
			[]string{"docker node update --label-add 'logs=yes' node-1 && docker service update --force logs | 1 on node-1 | none"},
		},
		{
			"so it does where a node takes two changes",
			list(node(1, drained), job),
			[]string{"docker node update --availability active --label-add 'logs=yes' node-1 && docker service update --force logs | 1 on node-1 | none"},
		},
	})
}
