package whatif

import (
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/orchestrator"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// giveUpStranded does first what the orchestrators do whatever is changed: they shut down what is on a node that is down or
// drained, and have others follow as the restart policy says (manager/orchestrator/replicated.Orchestrator.handleNodeChange
// and FixTask, the same in global). A task of a job stays: jobs do not look at nodes (manager/orchestrator/jobs).
func (r *rehearsal) giveUpStranded() error {
	var put []any
	for n := range r.state.Nodes() {
		if !orchestrator.InvalidNode(n) {
			continue
		}
		for t := range r.state.TasksOn(n.ID) {
			s := r.state.Service(t.ServiceID)
			if s == nil || isJob(s) || !analyzer.IsToRun(t) {
				continue
			}
			task := t.Copy()
			task.DesiredState = api.TaskStateShutdown
			put = append(put, task)
			r.stranded[s.ID] = true
		}
	}
	if err := r.with(put); err != nil {
		return err
	}
	r.before = r.state
	return nil
}

// noteStranded tells whose tasks have to find another node meanwhile: those of other services are not placed here.
func (r *rehearsal) noteStranded(concerned map[string]bool) {
	var names []string
	for id := range r.stranded {
		if !concerned[id] {
			names = append(names, r.state.Service(id).Spec.Annotations.Name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		r.note("which nodes take what was on nodes that are down or drained: of " + strings.Join(names, ", "))
	}
}
