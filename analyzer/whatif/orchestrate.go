package whatif

import (
	"cmp"
	"context"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// plan is what an orchestrator does for one service.
type plan struct {
	service *api.Service
	// fresh are tasks to place at once: for new slots and nodes, and those that wait already.
	fresh []*api.Task
	// turns are the slots that the update goes through.
	turns []turn
	// ends are running tasks that no other one follows.
	ends []*api.Task
}

// turn is one slot of an update: its task, and the one that takes its place.
type turn struct{ old, fresh *api.Task }

// waits tells that the old task has no node.
func (t turn) waits() bool { return t.old.Status.State <= api.TaskStatePending }

// plan decides about a service whose spec is in the state already. Dirty are the tasks, by id, that its update makes anew.
func (r *rehearsal) plan(ctx context.Context, s *api.Service, dirty map[string]bool) plan {
	p := plan{service: s}
	live, spent := r.slots(ctx, s)
	switch {
	case isJob(s) && r.updated[s.ID]:
		p.job(r, live)
	case isJob(s):
		p.jobGoesOn(ctx, r, live)
	case isGlobal(s):
		p.global(r, slices.Concat(live, spent), dirty)
	default:
		p.replicated(r, slices.Concat(live, spent), dirty)
	}
	return p
}

// replicated does as manager/orchestrator/replicated.Orchestrator.reconcile.
func (p *plan) replicated(r *rehearsal, slots []*api.Task, dirty map[string]bool) {
	wanted := wantedReplicas(p.service)
	slots = inOrderToKeep(slots)
	if extra := len(slots) - wanted; extra > 0 {
		p.ends = slots[wanted:]
		slots = slots[:wanted]
	}
	used := map[uint64]bool{}
	for _, t := range slots {
		used[t.Slot] = true
		p.keep(t, r.task(p.service, t.Slot, ""), dirty)
	}
	for slot := uint64(1); len(used) < wanted; slot++ {
		if !used[slot] {
			used[slot] = true
			p.fresh = append(p.fresh, r.task(p.service, slot, ""))
		}
	}
	// An update takes the slots in no order. Those that wait come first here: they leave no room, so that it may go no further.
	slices.SortFunc(p.turns, func(a, b turn) int { return cmp.Compare(a.fresh.Slot, b.fresh.Slot) })
	waiting := slices.DeleteFunc(slices.Clone(p.turns), func(t turn) bool { return !t.waits() })
	p.turns = append(waiting, slices.DeleteFunc(p.turns, turn.waits)...)
}

// keep lets a slot have its task, also one that ended, lets a waiting one be looked at again, or puts it into the update.
func (p *plan) keep(t, fresh *api.Task, dirty map[string]bool) {
	switch {
	case dirty[t.ID]:
		p.turns = append(p.turns, turn{t, fresh})
	case t.Status.State <= api.TaskStatePending:
		p.fresh = append(p.fresh, t)
	}
}

// inOrderToKeep sorts tasks so that a service that is scaled down loses the last ones (manager/orchestrator/replicated,
// slotsByRunningState and slotsByIndex).
func inOrderToKeep(live []*api.Task) []*api.Task {
	notRunning := func(t *api.Task) int {
		if t.Status.State == api.TaskStateRunning {
			return 0
		}
		return 1
	}
	slices.SortFunc(live, func(a, b *api.Task) int {
		return cmp.Or(notRunning(a)-notRunning(b), cmp.Compare(a.Slot, b.Slot))
	})
	nth, copies := map[string]int{}, map[string]int{}
	for _, t := range live {
		copies[t.NodeID]++
		nth[t.ID] = copies[t.NodeID]
		if t.NodeID == "" {
			nth[t.ID] = len(live) + 1
		}
	}
	slices.SortStableFunc(live, func(a, b *api.Task) int { return nth[a.ID] - nth[b.ID] })
	return live
}

// global does as manager/orchestrator/global.Orchestrator.reconcileServices.
func (p *plan) global(r *rehearsal, slots []*api.Task, dirty map[string]bool) {
	has := map[string]bool{}
	for _, t := range slots {
		has[t.NodeID] = true
		switch n := r.state.Node(t.NodeID); {
		case n == nil || !filters.MeetsConstraints(&p.service.Spec.Task, n):
			p.ends = append(p.ends, t)
		case n.Spec.Availability == api.NodeAvailabilityPause: // no update comes there
			p.keep(t, nil, nil)
		default:
			p.keep(t, r.task(p.service, 0, t.NodeID), dirty)
		}
	}
	for n := range r.state.Nodes() {
		if !has[n.ID] && filters.RunsGlobal(p.service, n) {
			p.fresh = append(p.fresh, r.task(p.service, 0, n.ID))
		}
	}
}

// job begins anew: an update of a job is another iteration of it (manager/controlapi.Server.UpdateService).
func (p *plan) job(r *rehearsal, live []*api.Task) {
	p.ends = live
	if p.service.Spec.GetGlobalJob() != nil {
		for n := range r.state.Nodes() {
			if filters.RunsGlobal(p.service, n) {
				p.fresh = append(p.fresh, r.task(p.service, 0, n.ID))
			}
		}
		return
	}
	for slot := range wantedReplicas(p.service) {
		p.fresh = append(p.fresh, r.task(p.service, uint64(slot), ""))
	}
}

// jobGoesOn makes anew only what a changed node stopped: the orchestrator restarts each where it was, a global job's on the
// same node (manager/orchestrator/jobs, restart.Supervisor.Restart).
func (p *plan) jobGoesOn(ctx context.Context, r *rehearsal, live []*api.Task) {
	for _, t := range live {
		p.keep(t, nil, nil)
	}
	for _, t := range r.evicted {
		if t.ServiceID != p.service.ID || r.last(ctx, p.service, []*api.Task{t}) != nil {
			continue
		}
		p.fresh = append(p.fresh, r.task(p.service, t.Slot, keyOf(p.service, t).node))
	}
}

// wantedReplicas is how many tasks of a replicated service or job are to run at once.
func wantedReplicas(s *api.Service) int { return int(atOnce(&s.Spec)) }
