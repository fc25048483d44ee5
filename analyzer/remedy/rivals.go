package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// judged is how many other services are asked at most whether they want the same room.
const judged = 50

// rival is another service that has tasks which wait for a node.
type rival struct {
	task  *api.Task // one of them
	tasks int
}

// rivalsOf are the services besides one whose tasks wait for the scheduler to find them a node, in the order of their ids.
func rivalsOf(state *collector.State, serviceID string) []*rival {
	byService := map[string]*rival{}
	var all []*rival
	for t := range state.Tasks() {
		if t.ServiceID == serviceID || t.NodeID != "" || t.Status.State != api.TaskStatePending || t.DesiredState > api.TaskStateCompleted {
			continue
		}
		r := byService[t.ServiceID]
		if r == nil {
			r = &rival{task: t}
			byService[t.ServiceID] = r
			all = append(all, r)
		}
		r.tasks++
	}
	slices.SortFunc(all, func(a, b *rival) int { return strings.Compare(a.task.ServiceID, b.task.ServiceID) })
	return all[:min(len(all), judged)]
}

// competes tells who else may take what a change makes free: among services the scheduler has no order
// (manager/scheduler.Scheduler.tick), but it looks at tasks that have their node before all of these.
func (t *trial) competes(r *analyzer.Remedy, draft *Draft, o *Outcome) {
	if slices.ContainsFunc(draft.Waiting, func(w *api.Task) bool { return w.NodeID != "" }) {
		return
	}
	var tasks []*api.Task
	number, changed := 0, draft.changed(o)
	for _, rival := range t.rivals {
		for id := range changed {
			if row, is := o.cluster.JudgeOn(rival.task, id); is && row.Passes() {
				tasks = append(tasks, rival.task)
				number += rival.tasks
				break
			}
		}
	}
	if number > 0 {
		r.Note = join(r.Note, fmt.Sprintf("other tasks that wait may go there first: %d of %s", number, strings.Join(serviceNames(t.state, tasks), ", ")))
	}
}
