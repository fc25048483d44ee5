package remedy

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// The cause of a scheduler that places nothing at all, and so looks again at nothing.
const schedulerStopped = "scheduler-stopped"

// retry makes the scheduler look again at tasks that a node would take. At those with a former version of the spec it looks
// no more (manager/scheduler.Scheduler.noSuitableNode): only an update makes ones at which it does.
func (s *subject) retry() []proposal {
	if s.Cause == schedulerStopped {
		return s.otherLeader()
	}
	if s.service == nil {
		return nil
	}
	var found []proposal
	if !s.stale {
		n := s.groups[0].rows[0].Node
		found = append(found, proposal{
			commands: []command{updateNode(n, flag("--label-add", "swarmdiag.nudge=1")), updateNode(n, flag("--label-rm", "swarmdiag.nudge"))},
			change:   func(*Draft) {},
			note:     "any change of a node makes the scheduler look at all that waits; afterwards the node is as it was",
		})
	}
	return append(append(found, s.force()...), s.atOnce()...)
}

// force has the service's tasks made anew.
func (s *subject) force() []proposal {
	if s.service == nil {
		return nil
	}
	id := s.service.ID
	return []proposal{{
		commands: []command{{serviceUpdate, []string{"--force"}, s.service.Spec.Annotations.Name}},
		change:   func(d *Draft) { d.Update(id, func(spec *api.ServiceSpec) { spec.Task.ForceUpdate++ }) },
		note:     "every task of the service is made anew, those that run well too",
		instead:  "force",
	}}
}

// atOnce has all tasks of a former spec end before any new one is to start, where these fit only without them. An update takes
// the slots in no order (manager/orchestrator/replicated.Orchestrator.reconcileService): one by one it may begin with one that
// waits, and go no further.
func (s *subject) atOnce() []proposal {
	if s.service == nil || isJob(s.service) {
		return nil
	}
	const parallelism = "0" // no limit
	note := "all tasks of the service stop at once, and are made anew from the spec that it has now"
	if u := s.service.Spec.Update; u == nil || u.Parallelism > 0 {
		note = join(note, "later updates work on all at once, too, until told otherwise")
	}
	id, flags := s.service.ID, []string{flag("--update-parallelism", parallelism)}
	if analyzer.IsStartFirst(s.service) {
		flags = append(flags, flag("--update-order", "stop-first"))
	}
	p := s.inStack([]proposal{{
		commands: []command{{serviceUpdate, append(flags, "--force"), s.service.Spec.Annotations.Name}},
		change: func(d *Draft) {
			d.Update(id, func(spec *api.ServiceSpec) {
				spec.Task.ForceUpdate++
				settings := updateSettings(spec)
				settings.Parallelism, settings.Order = 0, api.UpdateConfig_STOP_FIRST
			})
			for _, t := range d.Replaced(id) {
				d.Stop(t)
			}
		},
		note:    note,
		instead: "force",
	}}, "deploy.update_config.parallelism", parallelism)
	if analyzer.IsStartFirst(s.service) {
		p = s.inStack(p, "deploy.update_config.order", "stop-first")
	}
	return p
}

// otherLeader has another manager lead, with a scheduler of its own. What that one does no copy can show. The leader leaves
// only a group that keeps a majority without it, and is a worker meanwhile, which not all of its tasks may allow.
func (s *subject) otherLeader() []proposal {
	var leader, other *filters.Node
	managers, reachable := 0, 0
	for _, n := range s.cluster.Nodes() {
		if n.ManagerStatus == nil {
			continue
		}
		managers++
		isReachable := n.ManagerStatus.Reachability == api.RaftMemberStatus_REACHABLE
		if isReachable {
			reachable++
		}
		switch {
		case n.ManagerStatus.Leader:
			leader = n
		case other == nil && isReachable:
			other = n
		}
	}
	if leader == nil {
		return nil
	}
	if managers < 3 || reachable < managers {
		p := proposal{
			commands: []command{{verb: "systemctl restart docker"}}, at: leader.Name,
			note: fmt.Sprintf("every task on %s stops meanwhile", leader.Name), risk: analyzer.Outage, restarts: len(leader.Tasks),
		}
		if reachable <= managers/2+1 {
			p.note = join(p.note, "the managers have no majority until it is back")
		}
		return []proposal{p}
	}
	id := leader.ID
	return []proposal{{
		commands: []command{{verb: "docker node demote", object: leader.Ref()}, {verb: "docker node promote", object: leader.Ref()}}, at: other.Name,
		disturbs: func(d *Draft) { setRole(d.Node(id), api.NodeRoleWorker) },
		note:     fmt.Sprintf("run both on %s, another manager: one of the others leads then, and its scheduler starts anew; only while all managers are reachable", other.Name),
	}}
}
