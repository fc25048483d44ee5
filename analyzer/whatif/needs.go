package whatif

import (
	"cmp"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// What a need is about, as evidence spells it, where that is no amount of a resource.
const (
	replicas    = "replicas"
	constraints = "constraint"
)

// needs are the inequalities that stop an update, from what the analyzer proves about the tasks that wait.
func (r *rehearsal) needs(s *Service, d *analyzer.Diagnosis) []Need {
	var needs []Need
	for _, e := range d.Evidence {
		need := Need{What: e.What, Unit: e.Unit, Tasks: s.Waiting, Beside: s.Running, Node: e.Node, Wanted: e.Wanted}
		switch {
		case e.What == constraints:
			if slices.ContainsFunc(needs, func(n Need) bool { return n.What == constraints }) {
				continue // there is a fact for each, and one for all together
			}
			need.Wanted = cmp.Or(r.unmet(s), e.Wanted)
		case e.Asked == nil || e.Free == nil:
		case e.What == replicas: // the limit is on tasks, not on what they ask for
			need.Each, need.BesideEach, need.Free = 1, 1, *e.Free
			need.Node = ""
		default:
			need.Each, need.Free = *e.Asked, *e.Free
			if held := r.held(s, e.What); len(held) > 0 {
				need.Beside, need.BesideEach, need.BesideAlso = held[0].Tasks, held[0].Each, held[1:]
			}
		}
		needs = append(needs, need)
	}
	return needs
}

// held is what the tasks of the service that run reserve, the most first. Those that reserve nothing are left out.
func (r *rehearsal) held(s *Service, what string) []Held {
	tasks := map[float64]int{}
	for t := range r.state.TasksOf(r.state.ServiceNamed(s.Name).ID) {
		if each := filters.Asked(t)[what]; isHere(t) && each > 0 {
			tasks[each]++
		}
	}
	var held []Held
	for each, n := range tasks {
		held = append(held, Held{n, each})
	}
	slices.SortFunc(held, func(a, b Held) int { return cmp.Compare(b.Each, a.Each) })
	return held
}

// unmet are the service's constraints that no node meets; all, where each is met by one.
func (r *rehearsal) unmet(s *Service) string {
	placement := r.state.ServiceNamed(s.Name).Spec.Task.Placement
	if placement == nil {
		return ""
	}
	unmet := slices.DeleteFunc(slices.Clone(placement.Constraints), func(expression string) bool {
		alone := &api.TaskSpec{Placement: &api.Placement{Constraints: []string{expression}}}
		for n := range r.state.Nodes() {
			if filters.MeetsConstraints(alone, n) {
				return true
			}
		}
		return false
	})
	if len(unmet) == 0 {
		unmet = placement.Constraints
	}
	return strings.Join(unmet, " and ")
}
