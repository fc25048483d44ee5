package remedy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"github.com/moby/swarmkit/v2/log"
	"github.com/moby/swarmkit/v2/manager/state/store"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// patience is how often a store is tried for an outcome that it can have: the scheduler breaks ties at random.
const patience = 3000

func TestTheFoldedStorePlacesAsTheFullOneDoes(t *testing.T) {
	t.Parallel()
	outcomes, placed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		state := stateOfRapid(t, c.objects())
		on := func() map[string]string {
			p, err := Place(context.Background(), state, c.pending)
			if err != nil {
				t.Fatal(err)
			}
			return p.On
		}
		c.comesToTheSame(t, on)
		outcomes++
		placed += len(on())
	})
	t.Logf("%d clusters, %d tasks placed", outcomes, placed)
}

func TestTheStoreWithoutNodesThatRefusePlacesAsTheFullOneDoes(t *testing.T) {
	t.Parallel()
	left, placed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for range rapid.IntRange(0, 2).Draw(t, "more nodes") {
			c.nodes = append(c.nodes, drawNode(t, len(c.nodes)))
		}
		for _, s := range c.services {
			constrain(t, s)
		}
		for _, task := range c.pending {
			task.Spec = c.service(task.ServiceID).Spec.Task
		}
		for i := range rapid.IntRange(0, 8).Draw(t, "more tasks") {
			c.running = append(c.running, c.drawRunning(t, len(c.running)+i))
		}
		state := stateOfRapid(t, c.objects())
		cluster := filters.NewCluster(state)
		on := func() map[string]string {
			on, err := place(context.Background(), state, cluster, c.pending)
			if err != nil {
				t.Fatal(err)
			}
			return on
		}
		c.comesToTheSame(t, on)
		_, refuse := divide(cluster, c.pending)
		left += len(refuse)
		placed += len(on())
	})
	t.Logf("%d nodes left out, %d tasks placed", left, placed)
	if left == 0 || placed == 0 {
		t.Errorf("%d nodes were left out and %d tasks placed: nothing was tried", left, placed)
	}
}

// comesToTheSame holds where the scheduler places what is pending in a small store against the full one: each outcome of
// the one has to be one of the other.
func (c *cluster) comesToTheSame(t *rapid.T, small func() map[string]string) {
	full := func() string { return c.outcome(c.placeInFull(t).On) }
	folded := func() string { return c.outcome(small()) }
	want, got := full(), folded()
	if want != got && !comesTo(folded, want) {
		t.Fatalf("the full store can come to\n%s\nand the small one does not; it comes to\n%s\n%s", want, got, c)
	}
	if want != got && !comesTo(full, got) {
		t.Fatalf("the small store can come to\n%s\nand the full one does not; it comes to\n%s\n%s", got, want, c)
	}
}

func TestTasksOnNodesThatRefuseDecideHowOthersAreSpread(t *testing.T) {
	t.Parallel()
	web := service("web", 6, constrained("node.labels.tier!=old"), func(s *api.ServiceSpec) {
		s.Task.Placement.Preferences = []*api.PlacementPreference{{
			Preference: &api.PlacementPreference_Spread{Spread: &api.SpreadOver{SpreadDescriptor: "node.labels.zone"}},
		}}
	})
	in := func(zone string) func(*api.Node) { return labelled("zone", zone) }
	old := labelled("tier", "old")
	c := &cluster{
		nodes:    []*api.Node{node(1, in("a")), node(2, in("a"), old), node(3, in("a"), old), node(4, in("b"))},
		services: []*api.Service{web},
	}
	for _, task := range on(web, 2, 2, 3) {
		c.running = append(c.running, task.(*api.Task))
	}
	for _, task := range waiting(web, 4, 3) {
		c.pending = append(c.pending, task.(*api.Task))
	}
	state := stateOf(t, c.objects()...)
	cluster := filters.NewCluster(state)
	take, _ := divide(cluster, c.pending)
	placed, err := place(t.Context(), state, cluster, c.pending)
	if err != nil || len(take) != 2 {
		t.Fatalf("%d nodes take the tasks: want 2 (%v)", len(take), err)
	}
	if got, want := c.outcome(placed), "[service-web on id4 service-web on id4 service-web on id4]"; got != want {
		t.Errorf("three tasks are in zone a already, and of three more there are\n%s: want\n%s", got, want)
	}
}

func TestWhatIsSaidOfATaskCountsEveryNode(t *testing.T) {
	t.Parallel()
	web := service("web", 1, constrained("node.labels.env==prod"))
	pending := waiting(web, 1, 1)
	p, err := Place(t.Context(), stateOf(t, node(1), node(2), node(3), web, pending), []*api.Task{pending[0].(*api.Task)})
	if err != nil {
		t.Fatal(err)
	}
	want := "no suitable node (scheduling constraints not satisfied on 3 nodes)"
	if got := p.Err["web.1.pending"]; got != want {
		t.Errorf("the scheduler says %q: want %q", got, want)
	}
}

func comesTo(place func() string, want string) bool {
	for range patience {
		if place() == want {
			return true
		}
	}
	return false
}

// cluster is a random swarm: what runs, and what is to be placed.
type cluster struct {
	nodes            []*api.Node
	services         []*api.Service
	volumes          []*api.Volume
	running, pending []*api.Task
}

func (c *cluster) objects() []any {
	var all []any
	for _, n := range c.nodes {
		all = append(all, n)
	}
	for _, s := range c.services {
		all = append(all, s)
	}
	for _, v := range c.volumes {
		all = append(all, v)
	}
	for _, t := range slices.Concat(c.running, c.pending) {
		all = append(all, t)
	}
	return all
}

// String is what matters of the objects, a line each.
func (c *cluster) String() string {
	var text strings.Builder
	for _, n := range c.nodes {
		fmt.Fprintf(&text, "node %s %s %v %v\n", n.ID, n.Spec.Availability, n.Spec.Annotations.Labels, n.Description.Resources)
	}
	for _, s := range c.services {
		fmt.Fprintf(&text, "service %s %v %v %v %v\n", s.ID, s.Spec.Task.Resources.Reservations, s.Spec.Task.Placement, portsOf(&s.Spec), s.Spec.Task.GetContainer().Mounts)
	}
	for _, v := range c.volumes {
		fmt.Fprintf(&text, "volume %s %v\n", v.ID, v.Spec.AccessMode)
	}
	for _, t := range slices.Concat(c.running, c.pending) {
		fmt.Fprintf(&text, "task %s on %q %s, to be %s, with %v\n", t.ID, t.NodeID, t.Status.State, t.DesiredState, t.Volumes)
	}
	return text.String()
}

// outcome is where tasks were placed: those of one service are alike.
func (c *cluster) outcome(on map[string]string) string {
	var placed []string
	for _, t := range c.pending {
		where := cmp.Or(on[t.ID], "nowhere")
		if t.NodeID != "" {
			where += " of " + t.NodeID
		}
		placed = append(placed, t.ServiceID+" on "+where)
	}
	slices.Sort(placed)
	return fmt.Sprint(placed)
}

// placeInFull runs the scheduler over a store with every object as it is.
func (c *cluster) placeInFull(t *rapid.T) Placement {
	whole := c.store(t)
	defer whole.Close()
	if err := Schedule(log.WithLogger(t.Context(), silent), whole); err != nil {
		t.Fatal(err)
	}
	return read(whole, c.pending)
}

// store is swarmkit's, with every object as it is.
func (c *cluster) store(t *rapid.T) *store.MemoryStore {
	whole := store.NewMemoryStore(nil)
	err := whole.Update(func(tx store.Tx) error {
		for _, n := range c.nodes {
			if err := store.CreateNode(tx, n.Copy()); err != nil {
				return err
			}
		}
		for _, s := range c.services {
			if err := store.CreateService(tx, s.Copy()); err != nil {
				return err
			}
		}
		for _, v := range c.volumes {
			if err := store.CreateVolume(tx, v.Copy()); err != nil {
				return err
			}
		}
		for _, task := range slices.Concat(c.running, c.pending) {
			if err := store.CreateTask(tx, task.Copy()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func stateOfRapid(t *rapid.T, objects []any) *collector.State {
	s := collector.NewStore()
	if err := s.Replace(objects); err != nil {
		t.Fatal(err)
	}
	return s.Snapshot()
}

func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func drawCluster(t *rapid.T) *cluster {
	c := &cluster{}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		c.nodes = append(c.nodes, drawNode(t, i))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "volumes") {
		c.volumes = append(c.volumes, volume(fmt.Sprintf("data-%d", i), func(v *api.Volume) {
			v.Spec.Group, v.Spec.Driver = "fast", &api.Driver{Name: "csi"}
			v.Spec.AccessMode.Scope = pick(t, "scope", api.VolumeScopeMultiNode, api.VolumeScopeSingleNode)
			v.Spec.AccessMode.Sharing = pick(t, "sharing", api.VolumeSharingAll, api.VolumeSharingNone, api.VolumeSharingOneWriter)
		}))
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "services") {
		c.services = append(c.services, drawService(t, i))
	}
	for i := range rapid.IntRange(0, 10).Draw(t, "running tasks") {
		c.running = append(c.running, c.drawRunning(t, i))
	}
	asked := rapid.IntRange(1, len(c.services)).Draw(t, "services in question")
	for i := range rapid.IntRange(1, 3).Draw(t, "pending tasks") {
		s := c.services[i%asked]
		task := newTask(s, 100+i, api.TaskStatePending)
		if rapid.IntRange(0, 5).Draw(t, "preassigned") == 0 {
			task.NodeID = pick(t, "its node", c.nodes...).ID
		}
		c.pending = append(c.pending, task)
	}
	return c
}

func drawNode(t *rapid.T, i int) *api.Node {
	n := node(i+1, memoryOf(pick[int64](t, "memory", 4*gib, 8*gib)))
	n.Spec.Availability = pick(t, "availability", api.NodeAvailabilityActive, api.NodeAvailabilityActive, api.NodeAvailabilityActive, api.NodeAvailabilityPause)
	labelled("rack", pick(t, "rack", "a", "b"))(n)
	labelled("zone", pick(t, "zone", "", "x"))(n)
	switch pick(t, "generic", "none", "set", "discrete") {
	case "set":
		n.Description.Resources.Generic = genericresource.NewSet("gpu", "one", "two", "three")
	case "discrete":
		offers("gpu", 2)(n)
	}
	return n
}

func drawService(t *rapid.T, i int) *api.Service {
	return service(fmt.Sprintf("s%d", i), 3, func(s *api.ServiceSpec) {
		reserves(pick[int64](t, "reserves", 0, gib, 3*gib), pick[int64](t, "cpu", 0, core))(s)
		if rapid.IntRange(0, 2).Draw(t, "wants a gpu") == 0 {
			reservesGeneric("gpu", 1)(s)
		}
		if rapid.IntRange(0, 2).Draw(t, "publishes") == 0 {
			publishes(pick[uint32](t, "port", 80, 81))(s)
		}
		s.Task.Placement.MaxReplicas = pick[uint64](t, "max replicas", 0, 0, 1, 2)
		for _, over := range pick(t, "spread", nil, nil, []string{"node.labels.rack"}, []string{"node.labels.rack", "node.labels.zone"}, []string{"node.hostname"}) {
			s.Task.Placement.Preferences = append(s.Task.Placement.Preferences,
				&api.PlacementPreference{Preference: &api.PlacementPreference_Spread{Spread: &api.SpreadOver{SpreadDescriptor: over}}})
		}
		if rapid.IntRange(0, 3).Draw(t, "mounts") == 0 {
			mounts(api.Mount{Type: api.MountTypeCluster, Source: pick(t, "source", "data-0", "data-1", "group:fast"), Target: "/data",
				ReadOnly: rapid.Bool().Draw(t, "read-only")})(s)
		}
	})
}

// drawRunning draws a task that holds something, or held it.
func (c *cluster) drawRunning(t *rapid.T, i int) *api.Task {
	s := pick(t, "its service", c.services...)
	task := newTask(s, i+1, pick(t, "state", api.TaskStateRunning, api.TaskStateRunning, api.TaskStateAssigned, api.TaskStateFailed, api.TaskStateNew))
	task.DesiredState = pick(t, "desired", api.TaskStateRunning, api.TaskStateRunning, api.TaskStateShutdown)
	task.NodeID = pick(t, "on", c.nodes...).ID
	if task.Status.State != api.TaskStateNew {
		task.AssignedGenericResources = slices.Clone(s.Spec.Task.Resources.Reservations.Generic)
	}
	for _, m := range s.Spec.Task.GetContainer().Mounts {
		if len(c.volumes) > 0 {
			task.Volumes = append(task.Volumes, &api.VolumeAttachment{ID: pick(t, "attached", c.volumes...).ID, Source: m.Source, Target: m.Target})
		}
	}
	return task
}
