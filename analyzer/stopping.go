package analyzer

import (
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// stopping finds the tasks that should have ended and have not, on nodes that could end them.
func (p *Pass) stopping(s *api.Service, tasks []*api.Task) []*Stuck {
	var found []*Stuck
	for _, t := range tasks {
		if p.shouldStop(t) {
			since, overdue := p.stopTimes(s, t)
			found = append(found, &Stuck{Service: s, Task: t, Slot: t.Slot, State: stateStopping, Since: since, Overdue: overdue})
		}
	}
	return found
}

// shouldStop tells whether a task on a node that answers is to end and has not yet.
func (p *Pass) shouldStop(t *api.Task) bool {
	node := p.Cluster.Node(t.NodeID)
	return !isLive(t) && t.Status.State > api.TaskStatePending && t.Status.State <= api.TaskStateRunning &&
		node != nil && node.Status.State == api.NodeStatus_READY
}

// stopTimes tells since when a task is to end, and until when it may take.
func (p *Pass) stopTimes(s *api.Service, t *api.Task) (since, overdue time.Time) {
	since = at(t.Meta.UpdatedAt)
	return since, since.Add(p.patience.threshold(s, t, stateStopping))
}

// isStopping tells whether a task is to end and still has time to.
func (p *Pass) isStopping(t *api.Task) bool {
	_, overdue := p.stopTimes(p.State.Service(t.ServiceID), t)
	return p.shouldStop(t) && p.Now.Before(overdue)
}

// fitsAfterStops tells whether a node would take the task once the tasks that are stopping have ended, and when their
// time is up on the first such node.
func (p *Pass) fitsAfterStops(t *api.Task) (until time.Time, fits bool) {
	if p.afterStops == nil {
		p.afterStops = filters.NewClusterWithout(p.State, p.isStopping)
	}
	for _, row := range p.afterStops.Judge(t) {
		if !row.Passes() {
			continue
		}
		last := time.Time{}
		for _, holder := range p.Cluster.Node(row.Node.ID).Tasks {
			if p.isStopping(holder) {
				_, overdue := p.stopTimes(p.State.Service(holder.ServiceID), holder)
				last = later(last, overdue)
			}
		}
		if !last.IsZero() && (!fits || last.Before(until)) {
			until, fits = last, true
		}
	}
	return until, fits
}

// stopNote says of a task that holds something that it is to end, and whether it is late.
func (p *Pass) stopNote(t *api.Task) string {
	switch {
	case isLive(t):
		return ""
	case p.isStopping(t):
		return ", a task that is stopping"
	}
	return ", a task that should have stopped"
}
