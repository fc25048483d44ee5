package analyzer

import (
	"fmt"
	"strconv"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var maxReplicasReached = register(&Rule{
	Cause:     "max-replicas-reached",
	Component: Scheduler,
	Title:     "every eligible node has as many replicas as the service allows on one",
	Doc: `The service limits its replicas per node (--replicas-max-per-node), and limit × eligible nodes is less than the replicas it wants, or
than an update with start-first needs meanwhile.

Raise the limit, lower the replicas, make another node eligible, or use update order stop-first.`,
	Rejects: rejectedBy(filters.MaxReplicas),
	Explain: explainMaxReplicas,
	Why:     whyMaxReplicas,
})

func explainMaxReplicas(w *Waiting, _ filters.Reason) Finding {
	limit, eligible := w.Task().Spec.Placement.MaxReplicas, len(w.Eligible)
	room, node := limit*uint64(eligible), w.Nearest.Node
	wanted := 0
	if w.Service != nil {
		wanted = w.Pass.wanted(w.Service)
	}
	evidence := Evidence{
		What: "replicas", Node: node.Name, Asked: new(float64(wanted)), Free: new(float64(room)),
		Short: new(max(float64(wanted)-float64(room), 0)), Wanted: fmt.Sprintf("%d per node", limit),
		Found: foundIn(replicasOn(w)),
	}
	summary := fmt.Sprintf("at most %d a node × %s = %d, and %d are wanted", limit, count(eligible, "eligible node"), room, wanted)
	if uint64(wanted) <= room {
		evidence.Hint = "update order start-first needs room for one more beside the old tasks, or other filters refuse the node that has room"
		summary = fmt.Sprintf("%s has its %d replicas already, and %s", node.Name, limit, evidence.Hint)
	}
	return Finding{
		Summary:  summary,
		Evidence: []Evidence{evidence},
		Check: []Check{{
			Command: "docker service inspect -f '{{.Spec.TaskTemplate.Placement.MaxReplicas}}' " + w.serviceRef(),
			Shows:   strconv.FormatUint(limit, 10),
		}},
	}
}

// replicasOn groups the eligible nodes by how many active tasks of the service they have.
func replicasOn(w *Waiting) map[string][]string {
	nodes := map[string][]string{}
	for _, row := range w.Eligible {
		has := count(row.Node.ActiveTasks(w.Task().ServiceID), "replica")
		nodes[has] = append(nodes[has], row.Node.Name)
	}
	return nodes
}

func whyMaxReplicas(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	var why []string
	for _, row := range rows {
		why = append(why, fmt.Sprintf("%s: %s of at most %d", row.Node.Name,
			count(row.Node.ActiveTasks(w.Task().ServiceID), "replica"), w.Task().Spec.Placement.MaxReplicas))
	}
	return firstOf(why)
}
