package remedy

import (
	"slices"
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

func engineLabelled(key, value string) func(*api.Node) {
	return func(n *api.Node) { n.Description.Engine.Labels = map[string]string{key: value} }
}

func TestPlacementConstraintsAreMetByLabels(t *testing.T) {
	t.Parallel()
	var (
		shop   = service("shop_web", 3, constrained("node.role==worker", "node.labels.env==production"), inStack("shop"))
		ssd    = service("web", 1, constrained("node.labels.disk==ssd"))
		engine = service("web", 1, constrained("engine.labels.gpu==true"))
		hdd    = service("cache", 2, constrained("node.labels.disk==hdd"))
	)
	check(t, "placement-constraint", []example{
		{
			"a constraint that is nearly right is corrected first",
			list(node(1), node(2, labelled("env", "prod")), shop, waiting(shop, 1, 3)),
			[]string{
				"docker service update --constraint-rm 'node.labels.env==production' --constraint-add 'node.labels.env==prod' shop_web | 3 on node-2 | none | services.web.deploy.placement.constraints: [\"node.role==worker\",\"node.labels.env==prod\"]",
				"docker node update --label-add 'env=production' node-2 | 3 on node-2 | none",
			},
		},
		{
			"a node is given the label that the constraint asks for",
			list(node(1), node(2, drained), ssd, waiting(ssd, 1, 1)),
			[]string{"docker node update --label-add 'disk=ssd' node-1 | 1 on node-1 | none"},
		},
		{
			"a node that has the label in another case comes before one without",
			list(node(1), node(2, labelled("Disk", "ssd")), ssd, waiting(ssd, 1, 1)),
			[]string{
				"docker service update --constraint-rm 'node.labels.disk==ssd' --constraint-add 'node.labels.Disk==ssd' web | 1 on node-2 | none",
				"docker node update --label-add 'disk=ssd' node-2 | 1 on node-2 | none",
				"docker node update --label-add 'disk=ssd' node-1 | 1 on node-1 | none",
			},
		},
		{
			"a node whose value is spelt nearly so comes before one without, one with another value last",
			list(node(1, labelled("disk", "hdd")), node(2), node(3, labelled("disk", "sdd")), ssd, waiting(ssd, 1, 1)),
			[]string{
				"docker service update --constraint-rm 'node.labels.disk==ssd' --constraint-add 'node.labels.disk==sdd' web | 1 on node-3 | none",
				"docker node update --label-add 'disk=ssd' node-3 | 1 on node-3 | none",
				"docker node update --label-add 'disk=ssd' node-2 | 1 on node-2 | none",
			},
		},
		{
			"who has to leave a node whose label changes is told",
			list(node(1, labelled("disk", "hdd")), ssd, waiting(ssd, 1, 1), hdd, on(hdd, 1, 1)),
			[]string{"docker node update --label-add 'disk=ssd' node-1 | 1 on node-1 | outage 2"},
		},
		{
			"an engine label is set in the configuration of the engine",
			list(node(1), node(2, engineLabelled("cpu", "amd")), engine, waiting(engine, 1, 1)),
			[]string{
				"at node-1: systemctl reload docker | not verified | none",
				"at node-2: systemctl reload docker | not verified | none",
			},
		},
	})
}

func TestANodeThatIsNamedByAWrongKeyStaysTheOneThatIsMeant(t *testing.T) {
	t.Parallel()
	var (
		named = service("web", 1, constrained("node.name==node-2"))
		prod  = service("web", 1, constrained("node.name==node-2", "node.labels.env==prod"))
	)
	check(t, "placement-constraint", []example{
		{
			"only the key is corrected",
			list(node(1), node(2), node(3), named, waiting(named, 1, 1)),
			[]string{"docker service update --constraint-rm 'node.name==node-2' --constraint-add 'node.hostname==node-2' web | 1 on node-2 | none"},
		},
		{
			"it is activated where it is drained",
			list(node(1), node(2, drained), node(3), named, waiting(named, 1, 1)),
			[]string{"docker node update --availability active node-2 && docker service update --constraint-rm 'node.name==node-2' --constraint-add 'node.hostname==node-2' web | 1 on node-2 | none"},
		},
		{
			"it is given the label that it lacks, although others have it",
			list(node(1, labelled("env", "prod")), node(2), node(3, labelled("env", "prod")), prod, waiting(prod, 1, 1)),
			[]string{"docker node update --label-add 'env=prod' node-2 && docker service update --constraint-rm 'node.name==node-2' --constraint-add 'node.hostname==node-2' web | 1 on node-2 | none"},
		},
		{
			"a label that names another node is not it",
			list(node(1), node(2, labelled("name", "node-3")), node(3), named, waiting(named, 1, 1)),
			[]string{"docker service update --constraint-rm 'node.name==node-2' --constraint-add 'node.hostname==node-2' web | 1 on node-2 | none"},
		},
	})
}

func TestPlacementConstraintsThatCannotBeKeptAreMended(t *testing.T) {
	t.Parallel()
	var (
		ssd      = service("web", 1, constrained("node.labels.disk==ssd"))
		both     = service("web", 1, constrained("node.labels.env==prod", "node.labels.env==test"))
		host     = service("web", 1, constrained("node.hostname==elsewhere"))
		proper   = service("web", 1, constrained("node.label.env==prod"))
		excluded = service("web", 1, constrained("node.labels.env!=dev"))
		dev      = service("dev", 1, constrained("node.labels.env==dev"))
		noGPU    = service("web", 1, constrained("engine.labels.gpu!=true"))
		only     = service("web", 1, constrained("node.labels.env==dev", "node.labels.env!=dev"))
		onlyGPU  = service("web", 1, constrained("engine.labels.gpu==true", "engine.labels.gpu!=true"))
		full     = service("web", 1, constrained("node.labels.env==prod"), reserves(8*gib, 0))
		hdd      = service("cache", 2, constrained("node.labels.disk==hdd"))
		two      = service("web", 1, constrained("node.labels.disk==ssd", "node.labels.env==prod"))
	)
	check(t, "placement-constraint", []example{
		{
			"of two that contradict each other one is taken off",
			list(node(1, labelled("env", "prod")), both, waiting(both, 1, 1)),
			[]string{"docker service update --constraint-rm 'node.labels.env==test' web | 1 on node-1 | none"},
		},
		{
			"of two that contradict each other and both fail one is kept",
			list(node(1), both, waiting(both, 1, 1)),
			[]string{
				"docker node update --label-add 'env=test' node-1 && docker service update --constraint-rm 'node.labels.env==prod' web | 1 on node-1 | none",
				"docker node update --label-add 'env=prod' node-1 && docker service update --constraint-rm 'node.labels.env==test' web | 1 on node-1 | none",
			},
		},
		{
			"what no node can be given is taken off",
			list(node(1), host, waiting(host, 1, 1)),
			[]string{"docker service update --constraint-rm 'node.hostname==elsewhere' web | 1 on node-1 | none"},
		},
		{
			"a key without its proper prefix is corrected, and the label set",
			list(node(1), proper, waiting(proper, 1, 1)),
			[]string{"docker node update --label-add 'env=prod' node-1 && docker service update --constraint-rm 'node.label.env==prod' --constraint-add 'node.labels.env==prod' web | 1 on node-1 | none"},
		},
		{
			"a label that the constraint does not want is taken off a node",
			list(node(1, labelled("env", "dev")), node(2, labelled("env", "dev"), drained), excluded, waiting(excluded, 1, 1)),
			[]string{"docker node update --label-rm env node-1 | 1 on node-1 | none"},
		},
		{
			"who has to leave a node that loses its label is told",
			list(node(1, labelled("env", "dev")), excluded, waiting(excluded, 1, 1), dev, on(dev, 1)),
			[]string{"docker node update --label-rm env node-1 | 1 on node-1 | outage 1"},
		},
		{
			"an engine label that the constraint does not want is taken out of the configuration of the engine",
			list(node(1, engineLabelled("gpu", "true")), noGPU, waiting(noGPU, 1, 1)),
			[]string{"at node-1: systemctl reload docker | not verified | none"},
		},
		{
			"a label stays where another constraint asks for it",
			list(node(1, labelled("env", "dev")), only, waiting(only, 1, 1)),
			[]string{"docker service update --constraint-rm 'node.labels.env!=dev' web | 1 on node-1 | none"},
		},
		{
			"an engine label stays where another constraint asks for it",
			list(node(1, engineLabelled("gpu", "true")), onlyGPU, waiting(onlyGPU, 1, 1)),
			[]string{"docker service update --constraint-rm 'engine.labels.gpu!=true' web | 1 on node-1 | none"},
		},
		{
			"a node that is full as well takes two changes",
			list(node(1), full, waiting(full, 1, 1), hdd, ssd, on(service("small", 1, reserves(4*gib, 0)), 1)),
			nil,
		},
		{
			"two labels are one update of the node",
			list(node(1), two, waiting(two, 1, 1)),
			[]string{"docker node update --label-add 'disk=ssd' --label-add 'env=prod' node-1 | 1 on node-1 | none"},
		},
	})
}

func TestTasksOfAFormerSpecAreMetAsTheyAre(t *testing.T) {
	t.Parallel()
	var (
		stale      = service("web", 1, constrained("node.labels.env==prod"))
		staleTasks = waiting(stale, 1, 1)
	)
	stale.Spec.Task.Placement = &api.Placement{}
	stale.SpecVersion = &api.Version{Index: 8}
	without := service("web", 1, constrained("node.labels.env==production"))
	withoutTasks := withoutVersions(waiting(without, 1, 1))
	without.Spec.Task.Placement = nil
	check(t, "placement-constraint", []example{
		{
			"a constraint that the service no longer has is not corrected",
			list(node(1, labelled("env", "prod")), without, withoutTasks),
			[]string{"docker node update --label-add 'env=production' node-1 | 1 on node-1 | none"},
		},
		{
			"a task with a former spec is made anew",
			list(node(1), stale, staleTasks),
			[]string{"docker service update --force web | 1 on node-1 | none"},
		},
	})
}

func TestAConstraintIsNotTakenOffWhereNotEveryWayToKeepItWasTried(t *testing.T) {
	t.Parallel()
	arm := func(n *api.Node) { n.Description.Platform.Architecture = "aarch64" }
	web := service("web", 1, constrained("node.platform.arch==aarch64", "node.labels.env==prod"))
	objects := list(node(1, labelled("env", "prod")), node(99, drained, arm), web, waiting(web, 1, 1))
	for i := range promising {
		objects = append(objects, node(i+2, down, arm))
	}
	state := stateOf(t, objects...)
	found, err := Find(t.Context(), state, diagnosed(t, state, "placement-constraint"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found.Remedies {
		if strings.Contains(r.Command, "--constraint-rm") {
			t.Errorf("node-99 could be activated and labelled, and the constraint is taken off: %s", r.Command)
		}
	}
	if !slices.Contains(found.Notes, leftOut) {
		t.Errorf("nothing says that node-99 was not tried: %q", found.Notes)
	}
}

func TestAConstraintIsNotTakenOffWhileItCanBeKept(t *testing.T) {
	t.Parallel()
	for _, constraint := range []string{
		"node.labels.env==prod", "engine.labels.env==prod", "node.label.env==prod", "node.labels.env!=dev", "node.platform.arch==amd64", "node.role==master",
	} {
		s := service("web", 1, constrained(constraint))
		for _, r := range remediesOf(t, stateOf(t, node(1, labelled("env", "dev")), s, waiting(s, 1, 1)), "placement-constraint") {
			if strings.Contains(r.Command, "--constraint-rm") && !strings.Contains(r.Command, "--constraint-add") {
				t.Errorf("%s is taken off: %s", constraint, r.Command)
			}
		}
	}
}
