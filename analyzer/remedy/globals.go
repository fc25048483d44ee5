package remedy

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// spread makes a global service's tasks what the orchestrator makes of them in the draft: one on each node that may run
// it and has none (manager/orchestrator/global). That of jobs does so when the service is updated, and looks at no change of a
// node (manager/orchestrator/jobs.Orchestrator.handleEvent).
func (d *Draft) spread(serviceID string, state *collector.State) {
	s := state.Service(serviceID)
	if s == nil || !isGlobal(s) {
		return
	}
	has := map[string]bool{}
	d.Waiting = slices.DeleteFunc(d.Waiting, func(t *api.Task) bool {
		stays := t.ServiceID != serviceID || filters.RunsGlobal(s, state.Node(t.NodeID))
		has[t.NodeID] = has[t.NodeID] || stays && t.ServiceID == serviceID
		return !stays
	})
	for t := range state.TasksOf(serviceID) {
		has[t.NodeID] = has[t.NodeID] || isItsNodes(s, t)
	}
	if isJob(s) && !d.updates(serviceID) {
		return
	}
	for n := range state.Nodes() {
		if !has[n.ID] && filters.RunsGlobal(s, n) {
			d.Waiting = append(d.Waiting, d.onNode(s, n.ID))
		}
	}
}

func isGlobal(s *api.Service) bool { return s.Spec.GetGlobal() != nil || s.Spec.GetGlobalJob() != nil }

// isItsNodes tells whether the task is the one that its global service has on a node: none other is made there. A job has
// one in each iteration, which may have completed (manager/orchestrator/jobs/global.Reconciler.ReconcileService).
func isItsNodes(s *api.Service, t *api.Task) bool {
	if t.DesiredState > api.TaskStateCompleted {
		return false
	}
	if isJob(s) {
		return isOfIteration(s, t)
	}
	return t.Status.State <= api.TaskStateRunning
}

// onNode is a task that the orchestrator makes for a global service on a node.
func (d *Draft) onNode(s *api.Service, nodeID string) *api.Task {
	return d.made(s, &api.Task{ID: "task on " + nodeID, NodeID: nodeID, DesiredState: api.TaskStateRunning})
}

// first places the tasks of other global services and jobs on the nodes that are not as before, those that wait there and
// those that come to be because of the change. The scheduler looks at tasks with a node before all others
// (manager/scheduler.Scheduler.processPreassignedTasks). Among these it has no order: a remedy that is to hold in any has to
// leave the others their room.
func (d *Draft) first(ctx context.Context, o *Outcome) error {
	rivals := d.rivals(o)
	if len(rivals) == 0 {
		return nil
	}
	placed, err := place(ctx, o.state, o.cluster, rivals)
	if err != nil || len(placed) == 0 {
		return err
	}
	touched := map[string]bool{}
	var put []any
	for _, t := range rivals {
		if node, is := placed[t.ID]; is {
			runs := *t
			runs.Status.State = api.TaskStateRunning
			put, touched[node] = append(put, &runs), true
		}
	}
	return o.become(put, nil, touched)
}

// changed are the ids of the nodes that are not as before, or have other tasks.
func (d *Draft) changed(o *Outcome) map[string]bool {
	nodes := d.touched()
	for _, m := range o.Moves {
		nodes[m.From], nodes[m.To] = true, true
	}
	return nodes
}

func (d *Draft) rivals(o *Outcome) []*api.Task {
	nodes := d.changed(o)
	own := servicesOf(d.Waiting)
	var rivals []*api.Task
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		n, has := o.state.Node(id), map[string]bool{}
		if n == nil {
			continue
		}
		for t := range o.state.TasksOn(id) {
			s := o.state.Service(t.ServiceID)
			if s == nil || !isGlobal(s) || slices.Contains(own, s.ID) || !isItsNodes(s, t) {
				continue
			}
			has[s.ID] = true
			if t.Status.State <= api.TaskStatePending {
				rivals = append(rivals, t)
			}
		}
		for s := range o.state.Services() {
			if isGlobal(s) && !has[s.ID] && !slices.Contains(own, s.ID) && filters.RunsGlobal(s, n) {
				t := d.onNode(s, id)
				t.ID = s.ID + " " + t.ID
				rivals = append(rivals, t)
			}
		}
	}
	return rivals
}

// become changes what the outcome has: the nodes with these ids hold something else.
func (o *Outcome) become(put, gone []any, touched map[string]bool) error {
	after, err := o.state.With(put, gone...)
	if err != nil {
		return fmt.Errorf("place tasks in a copy of the cluster: %w", err)
	}
	o.state, o.cluster = after, o.cluster.Renew(after, touched, filters.NoneGone)
	return nil
}
