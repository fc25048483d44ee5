package analyzer

import (
	"fmt"
)

var schedulerStopped = register(&Rule{
	Cause:     "scheduler-stopped",
	Component: Scheduler,
	Title:     "the scheduler places nothing although work fits",
	Infers:    []string{"task.spec_version"},
	Doc: `Tasks of several services wait that a node would take, and no task that was made since has been placed anywhere: the leader's
scheduler stands still. Known for Docker 17.04 to 28.2, but for 25.0.12 and later releases of 25.0, with placement preferences: it
loops for ever when the branches of a spread are uneven and some are full (moby/swarmkit#3200).

Look at the leader: dockerd at 100 % of a core speaks for the loop. Another leader starts a new scheduler: docker node demote LEADER on
another manager, and promote it again; or restart its dockerd, which ends the tasks on it meanwhile.`,
})

func (p *Pass) stoppedSummary(u *unplaced, all []*unplaced, waited string) string {
	tasks, services := 0, map[*Followed]bool{}
	for _, other := range all {
		if !other.stale {
			tasks += len(other.stuck)
			services[other.f] = true
		}
	}
	summary := fmt.Sprintf("%s has room for it by every filter for %s, and the scheduler on the leader%s places nothing: %s of %s wait that would fit",
		u.w.Nearest.Node.Name, waited, p.leaderName(), count(tasks, "task"), count(len(services), "service"))
	if bug := p.loopBug(); bug != "" {
		summary += "; " + bug
	}
	return summary
}

func (p *Pass) leaderName() string {
	for _, n := range p.Cluster.Nodes() {
		if n.ManagerStatus != nil && n.ManagerStatus.Leader {
			return " (" + n.Name + ")"
		}
	}
	return ""
}
