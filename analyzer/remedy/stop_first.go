package remedy

import (
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// stopFirst has the old tasks of the service end before the new ones start, where they hold what these wait for. It is
// forced: the scheduler looks at waiting tasks of a former version of the spec no more
// (manager/scheduler.Scheduler.noSuitableNode), and a change of the update's order alone makes no new ones.
func (s *subject) stopFirst() []proposal {
	if !analyzer.IsStartFirst(s.service) || s.former || !slices.ContainsFunc(s.groups, func(g *group) bool {
		return g.failsOnly(filters.Resources, filters.HostPort, filters.MaxReplicas, filters.Volumes)
	}) {
		return nil
	}
	var old []*api.Task
	for t := range s.state.TasksOf(s.service.ID) {
		if t.Status.State > api.TaskStatePending && t.Status.State <= api.TaskStateRunning && t.DesiredState <= api.TaskStateCompleted && s.waitsFor(t) {
			old = append(old, t)
		}
	}
	if len(old) == 0 {
		return nil
	}
	p := s.updateService(func(spec *api.ServiceSpec) {
		updateSettings(spec).Order = api.UpdateConfig_STOP_FIRST // none are set where it is the rollbacks that start first
		spec.Task.ForceUpdate++
	}, flag("--update-order", "stop-first"), "--force")
	for i, update := range p {
		p[i].change = func(d *Draft) {
			update.change(d)
			for _, t := range old {
				d.Stop(t)
			}
		}
	}
	return s.inStack(p, "deploy.update_config.order", "stop-first")
}

// waitsFor tells whether a task that waits is to take the place of this one.
func (s *subject) waitsFor(old *api.Task) bool {
	for _, w := range s.Waiting {
		if slices.ContainsFunc(w.Tasks, func(t *api.Task) bool { return t.ID != old.ID && sameSlot(t, old) }) {
			return true
		}
	}
	return false
}
