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
	id := s.service.ID
	return append(found, proposal{
		commands: []command{{serviceUpdate, []string{"--force"}, s.service.Spec.Annotations.Name}},
		change:   func(d *Draft) { d.Update(id, func(spec *api.ServiceSpec) { spec.Task.ForceUpdate++ }) },
	})
}

// otherLeader has another manager lead, with a scheduler of its own. What that one does no copy can show.
func (s *subject) otherLeader() []proposal {
	var leader *filters.Node
	managers := 0
	for _, n := range s.cluster.Nodes() {
		if n.ManagerStatus != nil {
			managers++
			if n.ManagerStatus.Leader {
				leader = n
			}
		}
	}
	switch {
	case leader == nil:
		return nil
	case managers < 3: // of two, one alone is no majority
		return []proposal{{
			commands: []command{{verb: "systemctl restart docker"}}, at: leader.Name,
			note: fmt.Sprintf("every task on %s stops meanwhile", leader.Name), risk: analyzer.Outage, restarts: len(leader.Tasks),
		}}
	}
	return []proposal{{
		commands: []command{{verb: "docker node demote", object: leader.Ref()}, {verb: "docker node promote", object: leader.Ref()}},
		note:     "another manager leads then, and its scheduler starts anew; only with all managers reachable",
	}}
}
