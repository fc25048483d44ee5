package oracle_test

import (
	"context"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/scheduler"
	"github.com/moby/swarmkit/v2/manager/state/store"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/oracle"
)

// What is held against swarmkit at random is pinned here by name: its answers are written out, and ours must be the same.
func TestWhatSwarmkitSaysAtTheEdges(t *testing.T) {
	const old = "no suitable node (missing plugin on 9 nodes)"
	const refused = "no suitable node (insufficient resources on 1 node)"
	version := func(n uint64) *api.Version { return &api.Version{Index: n} }
	for name, test := range map[string]struct {
		change func(c *oracle.Cluster, web *api.Service, task *api.Task)
		want   string // "" where the task is placed
	}{
		"a task that fits is placed":            {func(_ *oracle.Cluster, _ *api.Service, task *api.Task) { task.Spec.Resources = nil }, ""},
		"a new text takes the place of the old": {func(*oracle.Cluster, *api.Service, *api.Task) {}, refused},
		"a task of an older spec keeps its text": {func(_ *oracle.Cluster, web *api.Service, task *api.Task) {
			web.SpecVersion, task.SpecVersion = version(2), version(1)
		}, old},
		"a task of an older spec is placed where it fits at the first look": {func(_ *oracle.Cluster, web *api.Service, task *api.Task) {
			web.SpecVersion, task.SpecVersion, task.Spec.Resources = version(2), version(1), nil
		}, ""},
		"a preassigned task of an older spec gets a new text": {func(_ *oracle.Cluster, web *api.Service, task *api.Task) {
			web.SpecVersion, task.SpecVersion, task.NodeID = version(2), version(1), "node"
		}, "insufficient resources on 1 node"},
		"a task whose service is gone keeps its text":              {func(c *oracle.Cluster, _ *api.Service, _ *api.Task) { c.Services = nil }, old},
		"a task that should stop keeps its text":                   {func(_ *oracle.Cluster, _ *api.Service, task *api.Task) { task.DesiredState = api.TaskStateShutdown }, old},
		"a task that is preassigned to a gone node keeps its text": {func(_ *oracle.Cluster, _ *api.Service, task *api.Task) { task.NodeID = "gone" }, old},
		"without nodes there is nothing to explain":                {func(c *oracle.Cluster, _ *api.Service, _ *api.Task) { c.Nodes = nil }, "no suitable node"},
		"a task that stops holds its port until it has stopped": {func(c *oracle.Cluster, _ *api.Service, task *api.Task) {
			task.Spec.Resources = nil
			task.Endpoint = &api.Endpoint{Ports: []*api.PortConfig{{PublishMode: api.PublishModeHost, PublishedPort: 80}}}
			holder := task.Copy()
			holder.ID, holder.NodeID, holder.Status.State, holder.DesiredState = "holder", "node", api.TaskStateRunning, api.TaskStateShutdown
			c.Tasks = append(c.Tasks, holder)
		}, "no suitable node (host-mode port already in use on 1 node)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := small()
			task := c.Tasks[0]
			task.Status.Err = old
			task.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 1 << 40}}
			test.change(c, c.Services[0], task)
			swarmkitSays(t, c, task, test.want)
		})
	}
}

// The scheduler in this process is compiled for the Go version that swarmkit's go.mod names, which decides whether its
// VolumesFilter judges the last mount of a task instead of each cluster volume. Clusters draws leaders that judge likewise:
// where this test fails, swarmkit's module has moved on, and drawVersion must.
func TestTheSchedulerHereJudgesTheLastMount(t *testing.T) {
	c := small()
	c.Nodes[0].Description.Engine = &api.EngineDescription{EngineVersion: "28.5.2"}
	c.Volumes = []*api.Volume{{
		ID: "volume", VolumeInfo: &api.VolumeInfo{VolumeID: "v"},
		Spec: api.VolumeSpec{Annotations: api.Annotations{Name: "data"}, Driver: &api.Driver{Name: "csi"}, AccessMode: &api.VolumeAccessMode{Scope: api.VolumeScopeMultiNode}},
	}}
	c.Tasks[0].Spec.GetContainer().Mounts = []api.Mount{{Type: api.MountTypeCluster, Source: "data", Target: "/data"}, {Type: api.MountTypeBind, Source: "/srv", Target: "/srv"}}
	swarmkitSays(t, c, c.Tasks[0], "no suitable node (cannot fulfill requested CSI volume mounts on 1 node)")
}

func TestManyFailuresOnANodeDoNotKeepATaskOut(t *testing.T) {
	const failures = 7 // swarmkit counts five as too many (manager/scheduler.maxFailures)
	c := small()
	web, next := c.Services[0], c.Tasks[0]
	s := store.NewMemoryStore(nil)
	defer s.Close()
	update(t, s, func(tx store.Tx) error {
		if err := store.CreateNode(tx, c.Nodes[0]); err != nil {
			return err
		}
		return store.CreateService(tx, web)
	})
	events, cancel := s.WatchQueue().Watch()
	defer cancel()
	swarmkit := scheduler.New(s)
	go func() { _ = swarmkit.Run(silent(t)) }() // Stop waits for it
	defer swarmkit.Stop()
	for range failures {
		task := next.Copy()
		task.ID += "."
		update(t, s, func(tx store.Tx) error { return store.CreateTask(tx, task) })
		placed := await(t, events, task.ID)
		placed.Status.State = api.TaskStateFailed
		update(t, s, func(tx store.Tx) error { return store.UpdateTask(tx, placed) })
		c.Tasks = append(c.Tasks, placed)
		next = task
	}
	last := c.Tasks[0].Copy()
	last.ID = "last"
	update(t, s, func(tx store.Tx) error { return store.CreateTask(tx, last) })
	if placed := await(t, events, last.ID); placed.NodeID != c.Nodes[0].ID {
		t.Errorf("after %d failures the task is on %q", failures, placed.NodeID)
	}
	state, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	if row := filters.NewCluster(state).Judge(last)[0]; !row.Passes() {
		t.Errorf("we say that it does not fit: %v", row.Verdicts.Map())
	}
}

// small is one leader, one service and its one pending task.
func small() *oracle.Cluster {
	container := &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: "demo"}}
	return &oracle.Cluster{
		Nodes: []*api.Node{{
			ID: "node", Role: api.NodeRoleManager, Status: api.NodeStatus{State: api.NodeStatus_READY},
			ManagerStatus: &api.ManagerStatus{Leader: true},
			Description:   &api.NodeDescription{Resources: &api.Resources{NanoCPUs: 4e9, MemoryBytes: 1 << 33}},
		}},
		Services: []*api.Service{{ID: "web", Spec: api.ServiceSpec{Annotations: api.Annotations{Name: "web"}}}},
		Tasks: []*api.Task{{
			ID: "waiting", ServiceID: "web", Spec: api.TaskSpec{Runtime: container},
			DesiredState: api.TaskStateRunning, Status: api.TaskStatus{State: api.TaskStatePending},
		}},
	}
}

// swarmkitSays checks what becomes of a pending task, and that we say the same.
func swarmkitSays(t *testing.T, c *oracle.Cluster, task *api.Task, want string) {
	t.Helper()
	swarmkit, err := oracle.NewScheduler(c)
	if err != nil {
		t.Fatal(err)
	}
	defer swarmkit.Close()
	decided, err := swarmkit.Place(silent(t), c.Pending())
	if err != nil {
		t.Fatal(err)
	}
	now := decided[task.ID]
	if placed := now.Status.State == api.TaskStateAssigned; now.Status.Err != want || placed != (want == "") {
		t.Errorf("swarmkit says %q and leaves the task %s, want %q", now.Status.Err, now.Status.State, want)
	}
	state, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	ours, says := filters.NewCluster(state), task.Status.Err
	if rows := ours.Judge(task); ours.Answers(task, state.Service(task.ServiceID)) || len(rows) > 0 && rows[0].Passes() {
		says = ours.Sentence(task, rows)
	}
	if says != want {
		t.Errorf("we say %q, want %q", says, want)
	}
}

func update(t *testing.T, s *store.MemoryStore, change func(store.Tx) error) {
	t.Helper()
	if err := s.Update(change); err != nil {
		t.Fatal(err)
	}
}

// await returns a task once it is assigned.
func await[E any](t *testing.T, events <-chan E, id string) *api.Task {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		select {
		case event := <-events:
			if e, ok := any(event).(api.EventUpdateTask); ok && e.Task.ID == id && e.Task.Status.State == api.TaskStateAssigned {
				return e.Task.Copy()
			}
		case <-ctx.Done():
			t.Fatalf("task %s was not placed", id)
		}
	}
}
