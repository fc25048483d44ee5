package analyzer

import (
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// takesOnReturn tells whether the node of a row would take the tasks if it only were ready and active.
func (w *Waiting) takesOnReturn(row filters.Row) bool {
	return row.Verdicts[filters.Ready] == filters.Fail && w.OnReturn(row).Verdicts.Count(filters.Fail) == 1
}

// OnReturn is how a node that takes no tasks now would judge these besides: what was told to stop on one that does not answer
// stops once it does, and the tasks that other global services get there are placed before all others
// (manager/scheduler.Scheduler.processPreassignedTasks).
func (w *Waiting) OnReturn(row filters.Row) filters.Row {
	n, gone := row.Node, filters.NoneGone
	if isReady(n.Node) {
		return row
	}
	if n.Status.State != api.NodeStatus_READY {
		gone = filters.StopsOnReturn
	}
	arriving := w.Pass.arriving(n)
	if i := slices.IndexFunc(arriving, func(t *api.Task) bool { return t.ServiceID == w.Task().ServiceID }); i >= 0 {
		arriving = slices.Delete(slices.Clone(arriving), i, i+1)
	}
	if len(arriving) == 0 && !slices.ContainsFunc(n.Tasks, gone) {
		return row
	}
	return w.Pass.Cluster.JudgeIf(w.Task(), n, gone, arriving)
}

// arriving are the tasks that global services get on a node once it is ready and active.
func (p *Pass) arriving(n *filters.Node) []*api.Task {
	if tasks, known := p.arrivals[n.ID]; known {
		return tasks
	}
	back := *n.Node
	back.Status.State, back.Spec.Availability = api.NodeStatus_READY, api.NodeAvailabilityActive
	var tasks []*api.Task
	for _, f := range p.Services {
		s := f.Service
		if s.Spec.GetGlobal() == nil || !filters.RunsGlobal(s, &back) || slices.ContainsFunc(n.Tasks, func(t *api.Task) bool { return t.ServiceID == s.ID && isLive(t) }) {
			continue
		}
		tasks = append(tasks, &api.Task{
			ServiceID: s.ID, NodeID: n.ID, Spec: s.Spec.Task, Endpoint: s.Endpoint,
			Status: api.TaskStatus{State: api.TaskStateRunning}, DesiredState: api.TaskStateRunning,
		})
	}
	if p.arrivals == nil {
		p.arrivals = map[string][]*api.Task{}
	}
	p.arrivals[n.ID] = tasks
	return tasks
}
