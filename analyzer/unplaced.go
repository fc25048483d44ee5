package analyzer

import (
	"cmp"
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// unplaced is tasks of a service that wait although a node would take them.
type unplaced struct {
	f     *Followed
	w     *Waiting
	stuck []*Stuck
	// since is when the node came to be one that would; stale tells that the tasks are of a version of the spec that
	// the scheduler looks at no more.
	since time.Time
	stale bool
}

// explainUnplaced reports what a node would take and Swarm does not place: the scheduler forgot it, or stands still.
func (p *Pass) explainUnplaced() {
	slices.SortFunc(p.unplaced, func(a, b *unplaced) int {
		return cmp.Or(cmp.Compare(a.f.Service.ID, b.f.Service.ID), compareNearest(a.w, b.w))
	})
	var due []*unplaced
	for _, u := range p.unplaced {
		u.since = p.fitsSince(u.w)
		u.stuck = slices.DeleteFunc(u.stuck, func(s *Stuck) bool {
			s.notBefore = u.since.Add(p.patience.threshold(s.Service, s.Task, s.State))
			return !p.Due(s, false)
		})
		if len(u.stuck) > 0 {
			due = append(due, u)
		}
	}
	due = p.mergeNodes(due)
	rule := notRetried
	if p.schedulerStands(due) {
		rule = schedulerStopped
	}
	for _, u := range due {
		if u.stale {
			p.reportUnplaced(notRetried, u, due)
		} else {
			p.reportUnplaced(rule, u, due)
		}
	}
}

// fitsSince is since when a node takes the task, as far as the state tells: the last that changed on the node that did
// so first.
func (p *Pass) fitsSince(w *Waiting) time.Time {
	var earliest time.Time
	for _, row := range w.Eligible {
		if !row.Passes() {
			continue
		}
		if since := p.changed(row.Node); earliest.IsZero() || since.Before(earliest) {
			earliest = since
		}
	}
	for v := range p.State.Volumes() {
		for _, m := range filters.ClusterMounts(w.Task()) {
			if m.Source == volumeName(v) || m.Source == "group:"+v.Spec.Group {
				earliest = later(earliest, at(v.Meta.UpdatedAt))
			}
		}
	}
	return later(earliest, created(w.Task()))
}

// changed is when the node, or what its tasks hold of it, last changed.
func (p *Pass) changed(n *filters.Node) time.Time {
	last := later(at(n.Meta.UpdatedAt), p.State.FreedAt(n.ID))
	for t := range p.State.TasksOn(n.ID) {
		if t.Status.State > api.TaskStateRunning {
			last = later(last, entered(t))
		}
	}
	return last
}

// mergeNodes makes one of the tasks of a global service on several nodes.
func (p *Pass) mergeNodes(all []*unplaced) []*unplaced {
	var merged []*unplaced
	for _, u := range all {
		i := slices.IndexFunc(merged, func(m *unplaced) bool { return m.f == u.f && m.stale == u.stale })
		if i < 0 {
			merged = append(merged, u)
			continue
		}
		merged[i].stuck = append(merged[i].stuck, u.stuck...)
		if u.since.Before(merged[i].since) {
			merged[i].since, merged[i].w = u.since, u.w
		}
	}
	return merged
}

// schedulerStands tells whether tasks of several services that fit are left, and no task that was made since was placed.
func (p *Pass) schedulerStands(due []*unplaced) bool {
	var first time.Time
	services := map[*Followed]bool{}
	for _, u := range due {
		if u.stale {
			continue
		}
		services[u.f] = true
		if first.IsZero() || u.since.Before(first) {
			first = u.since
		}
	}
	if len(services) < 2 {
		return false
	}
	return !slices.ContainsFunc(p.Services, func(f *Followed) bool { return f.placed.After(first) })
}

// isGivenUp tells whether the task is of a version of the spec that the scheduler looks at no more. Where the source hides
// versions, that is inferred from an update since the task was made. A task that has its node is of no such version: the
// scheduler looks at it however old its spec is (manager/scheduler.Scheduler.taskFitNode).
func (p *Pass) isGivenUp(s *api.Service, t *api.Task) bool {
	if t.NodeID != "" || !p.leaderAbandons() {
		return false
	}
	hidden := func(g collector.Gap) bool { return g.What == "task.spec_version" }
	if slices.ContainsFunc(p.State.Hides, hidden) && s.PreviousSpec != nil && created(t).Before(at(s.Meta.UpdatedAt)) {
		return true
	}
	return s.SpecVersion != nil && t.SpecVersion != nil && t.SpecVersion.Index < s.SpecVersion.Index
}
