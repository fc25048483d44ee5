package whatif

import (
	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// needs are the inequalities that stop an update, from what the analyzer proves about the tasks that wait.
func (r *rehearsal) needs(s *Service, d *analyzer.Diagnosis) []Need {
	var needs []Need
	for _, e := range d.Evidence {
		need := Need{What: e.What, Unit: e.Unit, Tasks: s.Waiting, Beside: s.Running, Node: e.Node, Wanted: e.Wanted}
		switch {
		case e.Asked == nil || e.Free == nil:
		case e.What == "replicas": // the limit is on tasks, not on what they ask for
			need.Each, need.BesideEach, need.Free = 1, 1, *e.Free
			need.Node = ""
		default:
			need.Each, need.Free = *e.Asked, *e.Free
			need.BesideEach = r.heldByEach(s, e.What)
		}
		needs = append(needs, need)
	}
	return needs
}

// heldByEach is what a task of the service that runs reserves: the most, where old and new ones differ.
func (r *rehearsal) heldByEach(s *Service, what string) float64 {
	most := 0.0
	for t := range r.state.TasksOf(r.state.ServiceNamed(s.Name).ID) {
		if isHere(t) {
			most = max(most, filters.Asked(t)[what])
		}
	}
	return most
}
