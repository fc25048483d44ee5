package remedy

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/orchestrator/constraintenforcer"
	"github.com/moby/swarmkit/v2/manager/state/store"
	"pgregory.net/rapid"
)

func TestTheTasksThatLoseTheirPlaceAreThoseThatSwarmkitRejects(t *testing.T) {
	t.Parallel()
	lost := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for _, s := range c.services {
			constrain(t, s)
		}
		if rapid.Bool().Draw(t, "a service is gone") {
			c.services = c.services[1:]
		}
		draft := NewDraft(stateOfRapid(t, c.objects()), nil)
		for _, n := range c.nodes { // less is there than when the tasks came
			r := draft.Node(n.ID).Description.Resources
			r.MemoryBytes = pick[int64](t, "memory now", 2*gib, 4*gib, r.MemoryBytes)
			if rapid.IntRange(0, 2).Draw(t, "loses generic resources") == 0 {
				r.Generic = nil
			}
		}
		got := draft.Evicted()
		lost += len(got)
		if diff := cmp.Diff(c.rejected(t, draft), ids(got)); diff != "" {
			t.Fatalf("tasks that lose their place (-swarmkit +got):\n%s\n%s", diff, c)
		}
	})
	if lost == 0 {
		t.Error("no task lost its place: nothing was tried")
	}
}

func ids(tasks []*api.Task) []string {
	var all []string
	for _, t := range tasks {
		all = append(all, t.ID)
	}
	slices.Sort(all)
	return all
}

// rejected are the ids of the tasks with a place that swarmkit's constraint enforcer takes it from, on the nodes of a draft.
func (c *cluster) rejected(t *rapid.T, d *Draft) []string {
	var nodes []*api.Node
	for _, n := range c.nodes {
		nodes = append(nodes, d.Node(n.ID))
	}
	changed := &cluster{nodes: nodes, services: c.services, volumes: c.volumes, running: c.running, pending: c.pending}
	swarm := changed.store(t)
	defer swarm.Close()
	enforcer := constraintenforcer.New(swarm)
	go enforcer.Run() // which looks at every node before it heeds Stop
	enforcer.Stop()
	var rejected []*api.Task
	swarm.View(func(tx store.ReadTx) {
		for _, before := range c.running {
			held := before.Status.State >= api.TaskStateAssigned && before.Status.State <= api.TaskStateRunning
			if after := store.GetTask(tx, before.ID); held && after.Status.State == api.TaskStateRejected {
				rejected = append(rejected, after)
			}
		}
	})
	return ids(rejected)
}

func TestAPausedNodeKeepsItsTasksAndADrainedOneNone(t *testing.T) {
	t.Parallel()
	web := service("web", 2, constrained("node.labels.env==prod"))
	for _, example := range []struct {
		name   string
		change func(*api.Node)
		want   []string
	}{
		{"paused", paused, nil},
		{"drained", drained, []string{"web.1.running"}},
		{"active", func(*api.Node) {}, []string{"web.1.running"}},
	} {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			draft := NewDraft(stateOf(t, node(1), web, on(web, 1)), nil)
			example.change(draft.Node("id1"))
			if diff := cmp.Diff(example.want, ids(draft.Evicted())); diff != "" {
				t.Errorf("evicted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheConstraintsThatAServiceHasNowDecideWhoLosesItsPlace(t *testing.T) {
	t.Parallel()
	web := service("web", 1)
	runs := on(web, 1)
	web.Spec = *web.Spec.Copy()
	web.Spec.Task.Placement.Constraints = []string{"node.labels.env==prod"} // which restarted nothing while the node met it
	draft := NewDraft(stateOf(t, node(1, labelled("env", "prod")), web, runs), nil)
	delete(draft.Node("id1").Spec.Annotations.Labels, "env")
	if diff := cmp.Diff([]string{"web.1.running"}, ids(draft.Evicted())); diff != "" {
		t.Errorf("evicted (-want +got):\n%s", diff)
	}
}
