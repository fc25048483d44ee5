package filters

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

func TestANodeIsSharedWhereItsTasksHoldWhatTheyDid(t *testing.T) {
	t.Parallel()
	store := collector.NewStore()
	task := &api.Task{
		ID: "task", ServiceID: "web", NodeID: "node", DesiredState: api.TaskStateRunning,
		SpecVersion: &api.Version{Index: 1}, Status: api.TaskStatus{State: api.TaskStateRunning},
		Spec: api.TaskSpec{Resources: &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 1 << 30}}},
	}
	put := func(objects ...any) *collector.State {
		t.Helper()
		if err := store.Put(objects...); err != nil {
			t.Fatal(err)
		}
		return store.Snapshot()
	}
	before := NewCluster(put(&api.Node{ID: "node"}, task))
	for _, c := range []struct {
		name   string
		change func(*api.Task)
		anew   bool
		shared bool
	}{
		{"another message", func(t *api.Task) { t.Status.Message = "still running" }, false, true},
		{"another message, and the node is to be read anew", func(t *api.Task) { t.Status.Message = "running on" }, true, false},
		{"a task that is to end", func(t *api.Task) { t.DesiredState = api.TaskStateShutdown }, false, false},
		{"a task that ended", func(t *api.Task) { t.Status.State = api.TaskStateCompleted }, false, false},
	} {
		changed := task.Copy()
		c.change(changed)
		after := before.Renew(put(changed), map[string]bool{"node": c.anew}, NoneGone)
		if got := after.Node("node") == before.Node("node"); got != c.shared {
			t.Errorf("%s: shared %t, want %t", c.name, got, c.shared)
		}
	}
}
