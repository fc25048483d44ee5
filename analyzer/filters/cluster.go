package filters

import (
	"cmp"
	"slices"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"github.com/moby/swarmkit/v2/manager/scheduler"

	"github.com/swarmdiag/swarmdiag/collector"
)

// Cluster is the nodes of a State as the scheduler sees them.
type Cluster struct {
	nodes   []*Node
	byID    map[string]*Node
	volumes *volumeSet
}

// Node is one node with what its tasks take.
type Node struct {
	*api.Node
	// Name is the hostname, followed by the id where it has no hostname or shares it.
	Name string
	// Tasks are those that hold resources there: assigned to running, whatever they should become.
	Tasks []*api.Task

	info  scheduler.NodeInfo
	ports map[hostPort][]*api.Task
	// portless are tasks whose ports nothing tells: the source hides them and their service is gone.
	portless []*api.Task
}

// NewCluster reads all nodes and what is reserved on them.
func NewCluster(state *collector.State) *Cluster {
	c := &Cluster{byID: map[string]*Node{}}
	for n := range state.Nodes() {
		c.add(newNode(n, state, NoneGone))
	}
	c.finish(state, NoneGone)
	return c
}

// Renew returns the cluster of a state in which only the nodes with these ids, and what their tasks hold, are others than
// in this one, as if the tasks for which gone is true had ended. All other nodes are shared. So is one whose value is false,
// where its tasks hold what they did.
func (c *Cluster) Renew(state *collector.State, ids map[string]bool, gone func(*api.Task) bool) *Cluster {
	renewed := &Cluster{byID: make(map[string]*Node, len(c.byID))}
	for _, n := range c.nodes {
		if _, dirty := ids[n.ID]; !dirty {
			renewed.add(n)
		}
	}
	for id, anew := range ids {
		n := state.Node(id)
		if n == nil {
			continue
		}
		node := newNode(n, state, gone)
		if old := c.byID[id]; !anew && old != nil && old.Node == n && sameHoldings(old.Tasks, node.Tasks) {
			node = old
		}
		renewed.add(node)
	}
	renewed.finish(state, gone)
	return renewed
}

// sameHoldings tells whether tasks are the same as before in all that nodes are judged and explained by. Of those that are
// to end also the times count.
func sameHoldings(before, now []*api.Task) bool {
	return slices.EqualFunc(before, now, func(a, b *api.Task) bool {
		return a == b || a.ID == b.ID && a.ServiceID == b.ServiceID && a.Status.State == b.Status.State &&
			a.DesiredState == b.DesiredState && a.DesiredState < api.TaskStateCompleted &&
			a.Spec.Resources == b.Spec.Resources && a.Endpoint == b.Endpoint && len(a.Volumes)+len(b.Volumes) == 0
	})
}

// NoneGone is a gone of Renew for which no task has ended.
func NoneGone(*api.Task) bool { return false }

func (c *Cluster) add(n *Node) {
	c.nodes = append(c.nodes, n)
	c.byID[n.ID] = n
}

// finish names and sorts the nodes, and books the volumes.
func (c *Cluster) finish(state *collector.State, gone func(*api.Task) bool) {
	c.nameNodes()
	slices.SortFunc(c.nodes, func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })
	c.volumes = newVolumeSet(state, c, gone)
}

// Nodes returns every node, by name. The slice must not be changed.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// Node returns the node with this id, or nil.
func (c *Cluster) Node(id string) *Node { return c.byID[id] }

func newNode(n *api.Node, state *collector.State, gone func(*api.Task) bool) *Node {
	node := &Node{Node: n, ports: map[hostPort][]*api.Task{}, info: emptyInfo(n)}
	for t := range state.TasksOn(n.ID) {
		if holds(t) && !gone(t) {
			node.add(t)
			if t.Endpoint == nil && state.Service(t.ServiceID) == nil && hidesPorts(state) {
				node.portless = append(node.portless, t)
			}
		}
	}
	return node
}

// emptyInfo is what the scheduler knows of a node without tasks.
func emptyInfo(n *api.Node) scheduler.NodeInfo {
	available := &api.Resources{}
	if n.Description != nil && n.Description.Resources != nil {
		available = n.Description.Resources.Copy()
	}
	return scheduler.NodeInfo{Node: n, AvailableResources: available, ActiveTasksCountByService: map[string]int{}}
}

// holds tells whether a task on a node holds resources there (manager/scheduler.Scheduler.setupTasksList).
func holds(t *api.Task) bool {
	return t.Status.State > api.TaskStatePending && t.Status.State <= api.TaskStateRunning
}

// add counts a task as manager/scheduler.NodeInfo.addTask does.
func (n *Node) add(t *api.Task) {
	n.Tasks = append(n.Tasks, t)
	available := n.info.AvailableResources
	reserved := Reservations(t)
	available.MemoryBytes -= reserved.MemoryBytes
	available.NanoCPUs -= reserved.NanoCPUs
	if len(reserved.Generic) > 0 {
		var claimed []*api.GenericResource
		// What cannot be claimed is left unclaimed, as in swarmkit.
		_ = genericresource.Claim(&available.Generic, &claimed, reserved.Generic)
	}
	for port := range hostPorts(t) {
		n.ports[port] = append(n.ports[port], t)
	}
	if t.DesiredState <= api.TaskStateCompleted {
		n.info.ActiveTasksCount++
		n.info.ActiveTasksCountByService[t.ServiceID]++
	}
}

// Changed returns the node as it would be without some of its tasks, and with more, whatever node those are on.
func (n *Node) Changed(gone func(*api.Task) bool, more []*api.Task) *Node {
	copied := *n
	copied.info, copied.ports, copied.Tasks = emptyInfo(n.Node), map[hostPort][]*api.Task{}, nil
	copied.portless = slices.DeleteFunc(slices.Clone(n.portless), gone)
	for _, t := range n.Tasks {
		if !gone(t) {
			copied.add(t)
		}
	}
	for _, t := range more {
		copied.add(t)
	}
	return &copied
}

// StopsOnReturn tells of a task on a node that does not answer the managers whether it was told to stop meanwhile: until the node is
// back it holds what it has there.
func StopsOnReturn(t *api.Task) bool { return t.DesiredState > api.TaskStateCompleted }

// Reservations returns what a task reserves; never nil.
func Reservations(t *api.Task) *api.Resources {
	if t.Spec.Resources == nil || t.Spec.Resources.Reservations == nil {
		return &api.Resources{}
	}
	return t.Spec.Resources.Reservations
}

// ActiveTasks returns how many tasks of the service count against its limit of replicas per node.
func (n *Node) ActiveTasks(serviceID string) int { return n.info.ActiveTasksCountByService[serviceID] }

// nameNodes gives every node a name that no other one has.
func (c *Cluster) nameNodes() {
	uses := make(map[string]int, len(c.nodes))
	for _, n := range c.nodes {
		uses[hostname(n.Node)]++
	}
	for i, n := range c.nodes {
		name := hostname(n.Node)
		switch {
		case name == "":
			name = n.ID
		case uses[name] > 1:
			name += " (" + n.ID + ")"
		}
		if n.Name != name { // a node may be shared with another cluster
			renamed := *n
			renamed.Name = name
			c.nodes[i], c.byID[n.ID] = &renamed, &renamed
		}
	}
}

func hostname(n *api.Node) string {
	if n.Description == nil {
		return ""
	}
	return n.Description.Hostname
}

// Ref is how a docker command can name the node: its hostname where that is unique, else its id.
func (n *Node) Ref() string {
	if n.Name == hostname(n.Node) {
		return n.Name
	}
	return n.ID
}

// HoldsLike tells whether the tasks on the node hold what those on another one do, in all that is judged and explained.
func (n *Node) HoldsLike(other *Node) bool { return sameHoldings(n.Tasks, other.Tasks) }
