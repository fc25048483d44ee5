package whatif

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/orchestrator"

	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Try does a change to a copy of the state, and tells what comes of it. An error means that it could not be tried.
func Try(ctx context.Context, state *collector.State, change Change, now time.Time) (Outcome, error) {
	if err := bound(state, change.Services); err != nil {
		return Outcome{}, err
	}
	now = now.Add(time.Nanosecond) // in a dump now is when something happened, and what the change makes is younger
	r, err := newRehearsal(state, now)
	if err != nil {
		return Outcome{}, err
	}
	concerned := map[string]bool{}
	plans, err := r.prepare(ctx, change, concerned)
	if err != nil {
		return Outcome{}, err
	}
	inTurn := len(change.Services) > 0 // a stack's services are sent one after the other
	if err := r.start(ctx, plans, inTurn); err != nil {
		return Outcome{}, err
	}
	updates := map[string]*Update{}
	for _, p := range plans {
		if updates[p.service.ID], err = r.roll(ctx, p); err != nil {
			return Outcome{}, err
		}
	}
	r.conclude(ctx, now, concerned, change, updates)
	return *r.out, nil
}

// prepare puts the change into the copy, and plans for each service concerned.
func (r *rehearsal) prepare(ctx context.Context, change Change, concerned map[string]bool) ([]plan, error) {
	if err := r.giveUpStranded(); err != nil {
		return nil, err
	}
	if err := r.with(objects(change.Networks)); err != nil {
		return nil, err
	}
	if err := r.changeNodes(change.Nodes, concerned); err != nil {
		return nil, err
	}
	for _, id := range change.Removed {
		concerned[id] = true
		tasks := slices.Collect(r.state.TasksOf(id))
		r.displace(tasks, "service removed")
		if err := r.end(tasks...); err != nil {
			return nil, err
		}
		if err := r.with(nil, &api.Service{ID: id}); err != nil {
			return nil, err
		}
	}
	dirty := map[string]bool{}
	for _, c := range change.Services {
		concerned[c.ID] = true
		if err := r.changeService(ctx, c, dirty); err != nil {
			return nil, err
		}
	}
	var plans []plan
	for s := range r.state.Services() {
		if concerned[s.ID] {
			plans = append(plans, r.plan(ctx, s, dirty))
		}
	}
	if len(change.Services)+len(change.Removed) > 0 {
		r.follow(concerned)
	}
	return plans, nil
}

func objects[T any](all []*T) []any {
	put := make([]any, len(all))
	for i, object := range all {
		put[i] = object
	}
	return put
}

// changeNodes takes the tasks off the changed nodes that may not stay there. Where it does more than take nodes out, what
// waits anywhere is concerned, too.
func (r *rehearsal) changeNodes(nodes []*api.Node, concerned map[string]bool) error {
	if len(nodes) == 0 {
		return nil
	}
	draft, onlyTakesOut := remedy.NewDraft(r.state, nil), true
	for _, n := range nodes {
		was := draft.Node(n.ID)
		onlyTakesOut = onlyTakesOut && was != nil && n.Spec.Availability != api.NodeAvailabilityActive
		if was != nil {
			*was = *n.Copy()
		}
	}
	var drained, unfit []*api.Task
	for _, t := range draft.Evicted() {
		s := r.state.Service(t.ServiceID)
		switch isDrained := r.drains(nodes, t.NodeID); {
		case isDrained && s != nil && isJob(s): // jobs do not look at nodes (manager/orchestrator/jobs)
			continue
		case isDrained:
			drained = append(drained, t)
		default:
			unfit = append(unfit, t)
		}
		concerned[t.ServiceID] = true
	}
	r.displace(drained, "drained")
	r.displace(unfit, "constraints")
	if err := r.evict(drained, api.TaskStateShutdown); err != nil {
		return err
	}
	if err := r.evict(unfit, api.TaskStateRejected); err != nil {
		return err
	}
	if err := r.with(objects(nodes)); err != nil {
		return err
	}
	if !onlyTakesOut {
		r.concernWaiting(concerned)
	}
	return nil
}

func (r *rehearsal) drains(nodes []*api.Node, id string) bool {
	return slices.ContainsFunc(nodes, func(n *api.Node) bool {
		return n.ID == id && n.Spec.Availability == api.NodeAvailabilityDrain
	})
}

// concernWaiting adds the services of which something waits for a node, or that are to run on every one.
func (r *rehearsal) concernWaiting(concerned map[string]bool) {
	for s := range r.state.Services() {
		concerned[s.ID] = concerned[s.ID] || r.stranded[s.ID] || s.Spec.GetGlobal() != nil
		for t := range r.state.TasksOf(s.ID) {
			concerned[s.ID] = concerned[s.ID] || waits(t)
		}
	}
}

// changeService puts the new spec into the copy, and marks the tasks that the update makes anew.
func (r *rehearsal) changeService(ctx context.Context, c ServiceChange, dirty map[string]bool) error {
	r.updated[c.ID] = true
	if c.New {
		s := &api.Service{
			ID: c.ID, Spec: *c.Spec, SpecVersion: &api.Version{Index: 1}, JobStatus: c.JobStatus,
			Meta: api.Meta{CreatedAt: r.now, UpdatedAt: r.now},
		}
		if c.Spec.Endpoint != nil {
			s.Endpoint = &api.Endpoint{Ports: c.Spec.Endpoint.Ports}
		}
		return r.with([]any{s})
	}
	before := r.state.Service(c.ID)
	asRunning, err := r.withSpentAsRunning(ctx, before)
	if err != nil {
		return err
	}
	draft := remedy.NewDraft(asRunning, nil)
	draft.Update(c.ID, func(spec *api.ServiceSpec) {
		force := spec.Task.ForceUpdate
		*spec = *c.Spec.Copy()
		if c.Restarts {
			spec.Task.ForceUpdate = max(force, spec.Task.ForceUpdate) + 1
		}
	})
	for _, t := range draft.Dirty(c.ID) {
		dirty[t.ID] = true
	}
	state, err := draft.State()
	if err != nil {
		return err
	}
	after := state.Service(c.ID).Copy()
	if c.Rollback {
		after.UpdateStatus = &api.UpdateStatus{State: api.UpdateStatus_ROLLBACK_STARTED}
		after.SpecVersion = before.PreviousSpecVersion // tasks of that version stay
	}
	if c.JobStatus != nil {
		after.JobStatus = c.JobStatus
	}
	return r.with([]any{after})
}

// withSpentAsRunning is the state to compare specs in: an update also goes through slots whose last task ended.
func (r *rehearsal) withSpentAsRunning(ctx context.Context, s *api.Service) (*collector.State, error) {
	_, spent := r.slots(ctx, s)
	put := make([]any, len(spent))
	for i, t := range spent {
		task := t.Copy()
		task.DesiredState, task.Status.State = api.TaskStateRunning, api.TaskStateRunning
		put[i] = task
	}
	state, err := r.state.With(put)
	if err != nil {
		return nil, fmt.Errorf("compare tasks of service %s: %w", s.ID, err)
	}
	return state, nil
}

// start ends what is to end, and places all that has to wait for no update: service by service, or all that waits at once.
func (r *rehearsal) start(ctx context.Context, plans []plan, inTurn bool) error {
	var fresh []*api.Task
	for _, p := range plans {
		r.displace(p.ends, why(p.service))
		if id := p.service.ID; r.updated[id] && orchestrator.IsGlobalService(p.service) {
			r.excluded[id] = countHere(p.ends)
		}
		if err := r.end(p.ends...); err != nil {
			return err
		}
		if fresh = append(fresh, p.fresh...); !inTurn {
			continue
		}
		if _, _, err := r.placeOwn(ctx, fresh); err != nil {
			return err
		}
		fresh = nil
	}
	if _, _, err := r.placeOwn(ctx, fresh); err != nil {
		return err
	}
	return r.placeOthers(ctx)
}

func why(s *api.Service) string {
	switch {
	case isJob(s):
		return "job begins anew"
	case s.Spec.GetGlobal() != nil:
		return "constraints"
	}
	return "scaled down"
}
