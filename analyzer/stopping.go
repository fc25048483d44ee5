package analyzer

import (
	"slices"
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
	if isLive(t) || t.Status.State <= api.TaskStatePending || t.Status.State > api.TaskStateRunning {
		return false
	}
	node := p.Cluster.Node(t.NodeID)
	return node != nil && node.Status.State == api.NodeStatus_READY
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

// fitsAfterStops tells whether a node would take the task once the tasks that are stopping have ended, and when the time
// of the last that could make room is up.
func (p *Pass) fitsAfterStops(t *api.Task) (until time.Time, fits bool) {
	if p.afterStops == nil {
		p.afterStops = p.without(p.isStopping)
	}
	for node, tasks := range p.ends {
		if !slices.ContainsFunc(tasks, p.isStopping) || !p.takes(p.afterStops, node, t) {
			continue
		}
		fits = true
		for _, holder := range tasks {
			if p.isStopping(holder) {
				_, overdue := p.stopTimes(p.State.Service(holder.ServiceID), holder)
				until = later(until, overdue)
			}
		}
	}
	return until, fits
}

// without is the cluster as if some of the tasks that will end had ended.
func (p *Pass) without(gone func(*api.Task) bool) *filters.Cluster {
	nodes := map[string]bool{}
	for node, tasks := range p.ends {
		if slices.ContainsFunc(tasks, gone) {
			nodes[node] = true
		}
	}
	if len(nodes) == 0 {
		return p.Cluster
	}
	return p.Cluster.Renew(p.State, nodes, gone)
}

// takes tells whether a node takes the task by every filter.
func (p *Pass) takes(cluster *filters.Cluster, node string, t *api.Task) bool {
	row, judged := cluster.JudgeOn(t, node)
	return judged && row.Passes()
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
