package analyzer

import (
	"fmt"
	"strconv"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "max-replicas-reached",
	Component: Scheduler,
	Title:     "every eligible node has as many replicas as the service allows on one",
	Doc: `The service limits its replicas per node (--replicas-max-per-node), and limit × eligible nodes is less than the replicas it wants, or
than an update with start-first needs meanwhile.

Raise the limit, lower the replicas, make another node eligible, or use update order stop-first.`,
	Rejects: rejectedBy(filters.MaxReplicas),
	Reads:   Holdings | Waiters,
	Explain: explainMaxReplicas,
	Why:     whyMaxReplicas,
})

func explainMaxReplicas(w *Waiting, _ filters.Reason) Finding {
	limit, eligible := w.Task().Spec.Placement.MaxReplicas, len(w.Eligible)
	room, wanted, node := limit*uint64(eligible), w.Replicas, w.Nearest.Node
	evidence := Evidence{
		What: "replicas", Node: node.Name, Asked: new(float64(wanted)), Free: new(float64(room)),
		Short: new(max(float64(wanted)-float64(room), 0)), Wanted: fmt.Sprintf("%d per node", limit),
		Found: foundIn(replicasOn(w)),
	}
	summary := fmt.Sprintf("at most %d a node × %s = %d, and %d are wanted", limit, count(eligible, "eligible node"), room, wanted)
	if uint64(wanted) <= room {
		evidence.Hint = whyRoomIsNotEnough(w)
		summary = fmt.Sprintf("at most %d a node, and %s; %s", limit, evidence.Hint, summary)
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

// whyRoomIsNotEnough tells why a limit that leaves room for all replicas keeps one out still.
func whyRoomIsNotEnough(w *Waiting) string {
	if free := filters.Without(w.Eligible, filters.MaxReplicas); len(free) > 0 {
		return fmt.Sprintf("on %s, which has room by that limit, other filters refuse it", list(namesOf(free, func(*filters.Node) bool { return true })))
	}
	if IsStartFirst(w.Service) {
		return "with update order start-first the new tasks need room beside the old ones"
	}
	return "tasks of an older spec still take the room"
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
	return whyEach(rows, func(row filters.Row) []string {
		return []string{fmt.Sprintf("%s: %s of at most %d", row.Node.Name,
			count(row.Node.ActiveTasks(w.Task().ServiceID), "replica"), w.Task().Spec.Placement.MaxReplicas)}
	})
}
