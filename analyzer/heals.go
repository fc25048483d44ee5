package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// healsItself tells what will end the waiting without anybody's doing: a node that answers again, or tasks that end by
// themselves or have been told to.
func (p *Pass) healsItself(w *Waiting) string {
	for _, row := range w.Rows {
		if isAway(row.Node) && w.takesOnReturn(row) {
			return fmt.Sprintf("when %s returns", row.Node.Name)
		}
	}
	if len(p.ends) == 0 {
		return "no"
	}
	if p.afterEnds == nil {
		p.afterEnds = p.without(p.willEnd)
	}
	for _, n := range p.Cluster.Nodes() {
		if ending := p.ends[n.ID]; len(ending) > 0 && p.takes(p.afterEnds, n.ID, w.Task()) {
			return fmt.Sprintf("when task %s ends", listIDs(ending))
		}
	}
	return "no"
}

// isAway tells whether the node would take tasks if it only answered.
func isAway(n *filters.Node) bool {
	return n.Status.State != api.NodeStatus_READY && n.Spec.Availability == api.NodeAvailabilityActive
}

// willEnd tells whether a task that holds something ends without anybody's doing: it has been told to, or is one of a job.
func (p *Pass) willEnd(t *api.Task) bool {
	return p.shouldStop(t) || t.DesiredState == api.TaskStateCompleted && t.Status.State > api.TaskStatePending && t.Status.State <= api.TaskStateRunning
}

func listIDs(tasks []*api.Task) string {
	var ids []string
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids[:min(len(ids), most)], ", ")
}
