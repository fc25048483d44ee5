package analyzer

import (
	"fmt"
	"strings"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "no-available-node",
	Component: Scheduler,
	Title:     "every node that is wanted is down, drained or paused",
	Doc: `Constraints, platform and plugins leave nodes for the task, but none of these takes tasks now: each is drained, paused, or not ready in
the eyes of the managers. Docker counts them as "not available for new tasks" and does not say which of the three.

Bring the node back (docker node update --availability active, or start its engine), or let another node match.`,
	Rejects: rejectedBy(filters.Ready),
	Reads:   Keys | Standing | Waiters,
	Explain: explainNotReady,
	Why:     whyNotReady,
})

func explainNotReady(w *Waiting, _ filters.Reason) Finding {
	finding := Finding{}
	var out []string
	for _, row := range w.Wanted {
		n := row.Node
		state, since := notReady(n)
		out = append(out, fmt.Sprintf("%s is %s since %s", n.Name, state, since.UTC().Format(time.RFC3339)))
		finding.Nodes = append(finding.Nodes, n)
		if len(finding.Evidence) == most {
			continue
		}
		finding.Evidence = append(finding.Evidence, Evidence{
			What: "node", Node: n.Name, Wanted: "ready and active", Hint: n.Status.Message,
			Found: []Found{{Value: fmt.Sprintf("%s since %s", state, since.UTC().Format(time.RFC3339)), Nodes: []string{n.Name}, Count: 1}},
		})
		finding.Check = append(finding.Check, Check{
			Command: "docker node inspect -f '{{.Status.State}} {{.Spec.Availability}}' " + quote(n.Ref()),
			Shows:   strings.ToLower(n.Status.State.String()) + " " + strings.ToLower(n.Spec.Availability.String()),
		})
	}
	finding.Summary = fmt.Sprintf("may run on %s only, and none takes tasks: %s; %s would be placed when one is back",
		count(len(w.Wanted), "node"), list(out), count(len(w.Tasks), "task"))
	return finding
}

// notReady tells in Docker's words why a node takes no task, and since when: its last change in the managers' store.
func notReady(n *filters.Node) (state string, since time.Time) {
	var reasons []string
	if n.Status.State != api.NodeStatus_READY {
		reasons = append(reasons, strings.ToLower(n.Status.State.String()))
	}
	switch n.Spec.Availability {
	case api.NodeAvailabilityDrain:
		reasons = append(reasons, "drained (availability drain)")
	case api.NodeAvailabilityPause:
		reasons = append(reasons, "paused (availability pause)")
	}
	return strings.Join(reasons, " and "), at(n.Meta.UpdatedAt)
}

func whyNotReady(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	return whyEach(rows, func(row filters.Row) []string {
		state, _ := notReady(row.Node)
		return []string{fmt.Sprintf("%s is %s", row.Node.Name, state)}
	})
}
