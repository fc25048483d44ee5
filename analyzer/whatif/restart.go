package whatif

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/orchestrator"
	"github.com/moby/swarmkit/v2/manager/orchestrator/restart"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// slotKey is what an orchestrator fills: a slot, or for a global service a node.
type slotKey struct {
	slot uint64
	node string
}

func keyOf(s *api.Service, t *api.Task) slotKey {
	if isGlobal(s) {
		return slotKey{node: t.NodeID}
	}
	return slotKey{slot: t.Slot}
}

// slots are the tasks of a service that fill a slot: those that live, and of each slot without one the last that ended,
// where its restart policy has no other follow it. Such a slot counts as filled, too
// (manager/orchestrator/restart.Supervisor.UpdatableTasksInSlot).
func (r *rehearsal) slots(ctx context.Context, s *api.Service) (live, spent []*api.Task) {
	full, ended := map[slotKey]bool{}, map[slotKey][]*api.Task{}
	for t := range r.state.TasksOf(s.ID) {
		key := keyOf(s, t)
		switch {
		case analyzer.IsToRun(t):
			full[key] = true
			live = append(live, t)
		case t.DesiredState < api.TaskStateRemove: // the others are about to be forgotten
			ended[key] = append(ended[key], t)
		}
	}
	if isJob(s) { // a job counts what is complete, and makes the rest anew
		return live, nil
	}
	for key, tasks := range ended {
		if full[key] {
			continue
		}
		if last := r.last(ctx, s, tasks); last != nil {
			spent = append(spent, last)
		}
	}
	slices.SortFunc(spent, func(a, b *api.Task) int { return cmp.Compare(a.ID, b.ID) })
	return live, spent
}

// last returns the last one of the tasks that a slot had, where none may follow it; else nil.
func (r *rehearsal) last(ctx context.Context, s *api.Service, ended []*api.Task) *api.Task {
	slot := make(orchestrator.Slot, len(ended))
	for i, t := range ended {
		task := *t
		task.DesiredState = api.TaskStateShutdown // as restart.Supervisor.Restart has it before it decides
		slot[i] = &task
	}
	newest := slices.MaxFunc(slot, newer)
	supervisor := restart.NewSupervisor(nil)
	remember(supervisor, s, slot, newest)
	service := *s
	service.UpdateStatus = nil // in a rollback all is made anew
	updatable := supervisor.UpdatableTasksInSlot(ctx, slot, &service)
	if len(updatable) == 0 {
		if p := newest.Spec.Restart; p != nil && p.MaxAttempts > 0 {
			r.note("how many restarts of " + s.Spec.Annotations.Name + " are used up: only those of tasks that Swarm still keeps are counted")
		}
		return nil
	}
	i := slices.IndexFunc(ended, func(t *api.Task) bool { return t.ID == updatable[0].ID })
	return ended[i]
}

// remember has the supervisor know of the restarts that brought a slot to its newest task, as a manager that becomes the
// leader finds them out (manager/orchestrator/taskinit.CheckTasks). Where versions are hidden, specs are compared.
func remember(supervisor *restart.Supervisor, s *api.Service, slot orchestrator.Slot, newest *api.Task) {
	var same []*api.Task
	for _, t := range slot {
		if t.SpecVersion != nil && newest.SpecVersion != nil {
			if t.SpecVersion.Index == newest.SpecVersion.Index {
				same = append(same, t)
			}
		} else if reflect.DeepEqual(t.Spec, newest.Spec) {
			same = append(same, t)
		}
	}
	slices.SortFunc(same, func(a, b *api.Task) int { return a.Meta.CreatedAt.Compare(b.Meta.CreatedAt) })
	key := keyOf(s, newest)
	for _, t := range same[1:] {
		supervisor.RecordRestartHistory(orchestrator.SlotTuple{ServiceID: s.ID, Slot: key.slot, NodeID: key.node}, t)
	}
}

// newer compares by the time of the last change (manager/orchestrator.TasksByTimestamp).
func newer(a, b *api.Task) int {
	switch both := (orchestrator.TasksByTimestamp{a, b}); {
	case both.Less(0, 1):
		return -1
	case both.Less(1, 0):
		return 1
	}
	return 0
}

// evict stops tasks that may not stay where they are, and leaves them for their service to follow: those that a drained node
// loses as shut down, the others as rejected (manager/orchestrator/constraintenforcer).
func (r *rehearsal) evict(tasks []*api.Task, state api.TaskState) error {
	put := make([]any, len(tasks))
	for i, t := range tasks {
		task := t.Copy()
		task.DesiredState = api.TaskStateShutdown
		task.Status = api.TaskStatus{State: state, Timestamp: r.now, AppliedAt: r.now}
		put[i] = task
		r.evicted = append(r.evicted, task)
	}
	return r.with(put)
}

func isJob(s *api.Service) bool {
	return orchestrator.IsReplicatedJob(s) || orchestrator.IsGlobalJob(s)
}

func isGlobal(s *api.Service) bool {
	return orchestrator.IsGlobalService(s) || orchestrator.IsGlobalJob(s)
}
