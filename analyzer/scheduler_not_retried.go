package analyzer

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

var notRetried = register(&Rule{
	Cause:     "not-retried",
	Component: Scheduler,
	Title:     "a node would take the task, and the scheduler has not tried again",
	Shapes:    []string{StaleSpec},
	Infers:    []string{"task.spec_version"},
	Doc: `By every filter a node takes the pending task, for longer than the scheduler needs, and it is not placed. What Docker says of it is from
before. A task that waits with a former version of its service's spec (shape stale-spec) is one that the scheduler looks at no
more, whatever becomes free: only finishing or repeating the update helps. Otherwise a change came that the scheduler does not look
for: so with a limit of replicas per node and an update that starts first, where an old task is to stop and takes its time.

Known bugs, of which those that the leader's Docker has are named: before 17.06 nobody looks again when a task ends
(moby/moby#32999); from 20.10.4 on a task that waits is given up once its service was updated, be it by a label only
(moby/moby#53722); from 17.04 to 28.2, but for 25.0.12 and later releases of 25.0, the scheduler can loop for ever over placement
preferences (moby/swarmkit#3200); and since 23.0 it keeps a cluster volume as it first saw it, paused if it was that. Against the
last two only another leader helps: see scheduler-stopped.

Any change of a node makes the scheduler look at all that waits (docker node update --label-add swarmdiag.nudge=1 NODE, then --label-rm
swarmdiag.nudge); it restarts nothing. docker service update --force makes every task of the service anew, the healthy ones too.`,
})

// StaleSpec is the shape of tasks whose version of the spec the scheduler gave up (manager/scheduler.Scheduler.noSuitableNode).
const StaleSpec = "stale-spec"

func (p *Pass) reportUnplaced(rule *Rule, u *unplaced, all []*unplaced) {
	slices.SortStableFunc(u.stuck, func(a, b *Stuck) int { return a.Since.Compare(b.Since) })
	node := u.w.Nearest.Node
	finding := Finding{
		Evidence: []Evidence{{What: "node", Node: node.Name, Wanted: "takes the task by every filter", Hint: "since " + u.since.UTC().Format(time.RFC3339)}},
		Check: []Check{taskCheck(u.w.Task()), {
			Command: "docker node inspect -f '{{.Status.State}} {{.Spec.Availability}}' " + quote(node.Ref()),
			Shows:   "ready active",
		}},
	}
	heals := "no"
	if rule == notRetried && !u.stale {
		heals = p.healsItself(u.w) // a task that ends makes the scheduler look again
	}
	waited := p.age(u.since)
	switch {
	case rule == schedulerStopped:
		finding.Summary = p.stoppedSummary(u, all, waited)
		finding.behind = []thing{{rule.Cause, Subject{ClusterSubject, p.State.ClusterID, p.State.ClusterName}, "the scheduler on the leader" + p.leaderName() + " places nothing"}}
	case u.stale:
		finding.Shape = StaleSpec
		finding.Summary = fmt.Sprintf("waits where the scheduler looks no more since the service was updated: %s would take it, and only finishing or repeating the update makes a task that it looks at", node.Name)
	default:
		finding.Summary = fmt.Sprintf("%s has room for it by every filter for %s, and the scheduler has not tried again", node.Name, waited)
		if u.w.Task().Status.Err != "" {
			finding.Summary += "; what Docker says is from before"
		}
	}
	if rule == notRetried {
		finding.Evidence[0].Hint = strings.Join(append([]string{finding.Evidence[0].Hint}, p.knownBugs(u)...), "; ")
	}
	p.Report(rule, rule.Component, u.f, u.stuck, finding, func(d *Diagnosis) {
		d.DockerSays = u.w.Task().Status.Err
		d.Waiting, d.HealsItself = []*Waiting{u.w}, heals
		d.Nodes = u.w.nodeGroups(u.w.Rows)
		d.Nearest = nearest(u.w)
	})
}
