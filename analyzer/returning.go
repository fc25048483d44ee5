package analyzer

import (
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// returning is a node that takes no tasks now, as it would be if it did for all but one global service, by their ids.
type returning struct{ node, besides string }

// takesOnReturn tells whether the node of a row would take the tasks if it only were ready and active.
func (w *Waiting) takesOnReturn(row filters.Row) bool {
	if row.Verdicts[filters.Ready] != filters.Fail {
		return false
	}
	p, as := w.Pass, returning{row.Node.ID, w.global()}
	if p.returned == nil {
		p.returned = map[returning]*filters.Node{}
	}
	if p.returned[as] == nil {
		p.returned[as] = p.onReturn(row.Node, as.besides)
	}
	return w.judgeAs(row, p.returned[as]).Verdicts.Count(filters.Fail) == 1
}

// OnReturn is how a node that takes no tasks now would judge these besides: what was told to stop on one that does not answer
// stops once it does, and the tasks that other global services get there are placed before all others
// (manager/scheduler.Scheduler.processPreassignedTasks).
func (w *Waiting) OnReturn(row filters.Row) filters.Row {
	if isReady(row.Node.Node) {
		return row
	}
	return w.judgeAs(row, w.Pass.onReturn(row.Node, w.global()))
}

func (w *Waiting) judgeAs(row filters.Row, as *filters.Node) filters.Row {
	if as == row.Node {
		return row
	}
	return w.Pass.Cluster.JudgeAs(w.Task(), as)
}

// global is the id of the service where it is a global one.
func (w *Waiting) global() string {
	if w.Service == nil || w.Service.Spec.GetGlobal() == nil {
		return ""
	}
	return w.Service.ID
}

// onReturn is a node without what stops there once it answers, and with what global services get there besides one; the node
// itself where that changes nothing.
func (p *Pass) onReturn(n *filters.Node, besides string) *filters.Node {
	gone := filters.NoneGone
	if n.Status.State != api.NodeStatus_READY {
		gone = filters.StopsOnReturn
	}
	arriving := p.arriving(n, besides)
	if len(arriving) == 0 && !slices.ContainsFunc(n.Tasks, gone) {
		return n
	}
	return n.Changed(gone, arriving)
}

// arriving are the tasks that global services besides one get on a node once it is ready and active.
func (p *Pass) arriving(n *filters.Node, besides string) []*api.Task {
	back := *n.Node
	back.Status.State, back.Spec.Availability = api.NodeStatus_READY, api.NodeAvailabilityActive
	var tasks []*api.Task
	for _, f := range p.Services {
		s := f.Service
		has := func(t *api.Task) bool { return t.ServiceID == s.ID && isLive(t) }
		if s.Spec.GetGlobal() == nil || s.ID == besides || !filters.RunsGlobal(s, &back) || slices.ContainsFunc(n.Tasks, has) {
			continue
		}
		tasks = append(tasks, &api.Task{
			ServiceID: s.ID, NodeID: n.ID, Spec: s.Spec.Task, Endpoint: s.Endpoint,
			Status: api.TaskStatus{State: api.TaskStateRunning}, DesiredState: api.TaskStateRunning,
		})
	}
	return tasks
}
