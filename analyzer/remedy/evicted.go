package remedy

import (
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Evicted returns the tasks that would lose their place because of changed nodes: all on one that is drained, and on one
// that is active those that their service's constraints, or what is left there, no longer allow. On a paused one tasks stay.
func (d *Draft) Evicted() []*api.Task {
	var evicted []*api.Task
	for _, object := range d.put {
		n, is := object.(*api.Node)
		if !is {
			continue
		}
		var leave []*api.Task
		switch n.Spec.Availability {
		case api.NodeAvailabilityDrain:
			for t := range d.base.TasksOn(n.ID) {
				if t.DesiredState <= api.TaskStateCompleted {
					leave = append(leave, t)
				}
			}
		case api.NodeAvailabilityActive:
			leave = d.noncompliant(n)
		}
		for _, t := range leave {
			if t.Status.State >= api.TaskStateAssigned && t.Status.State <= api.TaskStateRunning {
				evicted = append(evicted, t)
			}
		}
	}
	return evicted
}

// noncompliant are the tasks that the managers reject on a node when it changes
// (manager/orchestrator/constraintenforcer.ConstraintEnforcer.rejectNoncompliantTasks): what runs, has ended or waits takes
// its share of what is there, in the order of ids, and what a task was promised of a generic resource ends the search where
// it is gone. Of the tasks themselves only resources count; constraints are those that the service has before the draft,
// which changes nodes first.
func (d *Draft) noncompliant(n *api.Node) []*api.Task {
	var leave []*api.Task
	available := &api.Resources{}
	if n.Description != nil && n.Description.Resources != nil {
		available = n.Description.Resources.Copy()
	}
	for t := range d.base.TasksOn(n.ID) {
		if t.DesiredState < api.TaskStateAssigned || t.DesiredState > api.TaskStateCompleted {
			continue
		}
		spec := &t.Spec
		if s := d.base.Service(t.ServiceID); s != nil {
			spec = &s.Spec.Task
		}
		reserved := filters.Reservations(t)
		if !filters.MeetsConstraints(spec, n) || reserved.MemoryBytes > available.MemoryBytes || reserved.NanoCPUs > available.NanoCPUs {
			leave = append(leave, t)
			continue
		}
		available.MemoryBytes -= reserved.MemoryBytes
		available.NanoCPUs -= reserved.NanoCPUs
		for _, promised := range t.AssignedGenericResources {
			if !genericresource.HasResource(promised, available.Generic) {
				return append(leave, t)
			}
		}
		genericresource.ConsumeNodeResources(&available.Generic, t.AssignedGenericResources)
	}
	return leave
}
