package oracle

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"pgregory.net/rapid"
)

// taskStates are those of a task's life.
var taskStates = []api.TaskState{
	api.TaskStateRunning, api.TaskStateRunning, api.TaskStateRunning, api.TaskStatePending, api.TaskStateAssigned, api.TaskStateFailed,
	api.TaskStateNew, api.TaskStateAccepted, api.TaskStatePreparing, api.TaskStateReady, api.TaskStateStarting, api.TaskStateCompleted,
	api.TaskStateShutdown, api.TaskStateRejected, api.TaskStateOrphaned,
}

// drawTasks adds tasks of a service, of its present spec and of the previous one. At least one is pending.
func (c *Cluster) drawTasks(t *rapid.T, s *api.Service, claims *claims) {
	for i := range rapid.IntRange(1, 6).Draw(t, "tasks") {
		task := c.newTask(t, s, fmt.Sprintf("%s.%d", s.ID, i))
		task.Slot = uint64(i + 1)
		if task.Status.State = api.TaskStatePending; i > 0 {
			task.Status.State = pick(t, "state", taskStates...)
		}
		task.DesiredState = drawDesired(t, isJob(s))
		if isGlobal(s) {
			task.Slot = 0
		}
		if isGlobal(s) || task.Status.State > api.TaskStatePending {
			task.NodeID = c.drawNodeID(t)
		}
		if holds(task) {
			task.Volumes = c.drawAttached(t, task.Spec.GetContainer().Mounts)
			if !claims.add(task) {
				task.Status.State = api.TaskStateFailed
			}
		}
		if task.Status.State == api.TaskStatePending {
			task.Status.Err = pick(t, "old err", "", "no suitable node (insufficient resources on 99 nodes)", "missing plugin on 1 node")
		}
		c.Tasks = append(c.Tasks, task)
	}
}

// newTask returns a task of one of the service's specs.
func (c *Cluster) newTask(t *rapid.T, s *api.Service, id string) *api.Task {
	minutes := 200 - len(c.Tasks)
	task := &api.Task{
		ID: id, ServiceID: s.ID, ServiceAnnotations: s.Spec.Annotations,
		Meta:        api.Meta{CreatedAt: minutesAgo(minutes), UpdatedAt: minutesAgo(minutes)},
		Spec:        s.Spec.Task,
		SpecVersion: s.SpecVersion,
		Status:      api.TaskStatus{Timestamp: minutesAgo(minutes)},
	}
	if s.PreviousSpec != nil && oneIn(t, "of the previous spec", 3) {
		task.Spec, task.SpecVersion = s.PreviousSpec.Task, s.PreviousSpecVersion
	} else if s.SpecVersion != nil && oneIn(t, "task unversioned", 10) {
		task.SpecVersion = nil
	}
	if s.Endpoint != nil {
		task.Endpoint = s.Endpoint
	}
	for _, attached := range s.Spec.Networks {
		task.Networks = append(task.Networks, &api.NetworkAttachment{Network: c.network(attached.Target)})
	}
	return task
}

// drawAttachment draws the task behind a container that somebody started on an attachable network.
func (c *Cluster) drawAttachment(t *rapid.T, i int) *api.Task {
	task := &api.Task{
		ID:           fmt.Sprintf("attachment.%d", i),
		Meta:         api.Meta{CreatedAt: minutesAgo(i), UpdatedAt: minutesAgo(i)},
		NodeID:       c.drawNodeID(t),
		Spec:         api.TaskSpec{Runtime: &api.TaskSpec_Attachment{Attachment: &api.NetworkAttachmentSpec{ContainerID: "c"}}},
		DesiredState: api.TaskStateRunning,
		Status:       api.TaskStatus{State: pick(t, "state", api.TaskStatePending, api.TaskStateRunning), Timestamp: minutesAgo(i)},
		Networks:     []*api.NetworkAttachment{{}},
	}
	if len(c.Networks) > 0 {
		task.Networks[0].Network = pick(t, "network", c.Networks...)
	}
	return task
}

func drawDesired(t *rapid.T, job bool) api.TaskState {
	switch {
	case oneIn(t, "stopping", 6):
		return pick(t, "desired", api.TaskStateShutdown, api.TaskStateRemove)
	case job:
		return api.TaskStateCompleted
	}
	return pick(t, "desired", api.TaskStateRunning, api.TaskStateRunning, api.TaskStateReady)
}

// drawNodeID draws where a task is; some are on a node that was removed.
func (c *Cluster) drawNodeID(t *rapid.T) string {
	if len(c.Nodes) == 0 || oneIn(t, "on a removed node", 12) {
		return gone
	}
	return pick(t, "node", c.Nodes...).ID
}

func (c *Cluster) network(id string) *api.Network {
	for _, n := range c.Networks {
		if n.ID == id {
			return n
		}
	}
	return nil
}

// holds tells whether a task holds resources on its node.
func holds(t *api.Task) bool {
	return t.Status.State > api.TaskStatePending && t.Status.State <= api.TaskStateRunning
}

// claims are the generic resources that are left on each node. A single task that asks for a single kind can claim more
// than there is, as after a node lost a device, but then no other one there claims any.
type claims struct {
	left   map[string][]*api.GenericResource
	number map[string]int
	closed map[string]bool
}

func newClaims(nodes []*api.Node) *claims {
	c := &claims{left: map[string][]*api.GenericResource{}, number: map[string]int{}, closed: map[string]bool{}}
	for _, n := range nodes {
		c.left[n.ID] = nil
		if n.Description != nil && n.Description.Resources != nil {
			c.left[n.ID] = n.Description.Resources.Copy().Generic
		}
	}
	return c
}

// add tells whether a task can be where it is.
func (c *claims) add(t *api.Task) bool {
	left, there := c.left[t.NodeID]
	if !there || t.Spec.Resources == nil || len(t.Spec.Resources.Reservations.Generic) == 0 {
		return true
	}
	if c.closed[t.NodeID] {
		return false
	}
	asked := t.Spec.Resources.Reservations.Generic
	for _, generic := range atLeastOne(asked) {
		if enough, err := genericresource.HasEnough(left, generic); err != nil || !enough {
			c.closed[t.NodeID] = len(asked) == 1 && c.number[t.NodeID] == 0
			return c.closed[t.NodeID]
		}
	}
	before := (&api.Resources{Generic: left}).Copy().Generic
	var claimed, kept []*api.GenericResource
	if genericresource.Claim(&before, &claimed, asked) != nil || genericresource.Claim(&left, &kept, atLeastOne(asked)) != nil {
		return false
	}
	c.left[t.NodeID], t.AssignedGenericResources = left, claimed
	c.number[t.NodeID]++
	return true
}

// atLeastOne is what has to be left for a claim: a task that asks 0 of a kind is given nothing of any once that kind is used up
// (api/genericresource.Claim), so that it matters who came first.
func atLeastOne(asked []*api.GenericResource) []*api.GenericResource {
	kept := make([]*api.GenericResource, len(asked))
	for i, generic := range asked {
		kept[i] = generic
		if discrete := generic.GetDiscreteResourceSpec(); discrete != nil && discrete.Value == 0 {
			kept[i] = genericresource.NewDiscrete(discrete.Kind, 1)
		}
	}
	return kept
}
