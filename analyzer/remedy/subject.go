package remedy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// subject is what remedies are looked for: a diagnosis, and the matrix behind it.
type subject struct {
	*analyzer.Diagnosis
	state   *collector.State
	cluster *filters.Cluster
	service *api.Service // nil for a task that belongs to none
	// former tells that the tasks are not of the spec that the service has now; stale, that the scheduler looks at them no
	// more for that. At those that have their node it does (manager/scheduler.Scheduler.taskFitNode).
	former, stale bool
	// loosen tells that no way to keep the placement constraints was found; untried, that there are some that were not tried.
	loosen, untried bool
	// groups are the nodes where the user wants the tasks, those with the fewest reasons against them first.
	groups []*group
	// moving is what moves came to; nil while they were not asked for.
	moving *moving
}

// group is nodes that refuse the tasks for the same reasons, those that lack least first.
type group struct {
	waiting *analyzer.Waiting
	// reasons name a resource, or of the constraints one expression.
	reasons []filters.Reason
	rows    []filters.Row
}

func newSubject(state *collector.State, cluster *filters.Cluster, d *analyzer.Diagnosis) *subject {
	w := d.Waiting[0]
	s := &subject{Diagnosis: d, state: state, cluster: cluster, service: w.Service}
	s.stale = d.Shape == analyzer.StaleSpec
	s.former = s.stale
	if v := w.Task().SpecVersion; w.Service != nil && w.Service.SpecVersion != nil && v != nil {
		s.former = s.former || v.Index != w.Service.SpecVersion.Index
		s.stale = s.former && w.Task().NodeID == ""
	}
	byReasons := map[string]*group{}
	for _, w := range d.Waiting {
		rows := w.Wanted
		if len(rows) == 0 {
			rows = w.Rows
		}
		for _, row := range rows {
			if row.Node.Status.State != api.NodeStatus_READY {
				row = w.OnReturn(row)
			}
			reasons := reasonsOf(w.Task(), row)
			key := fmt.Sprint(reasons)
			if byReasons[key] == nil {
				byReasons[key] = &group{waiting: w, reasons: reasons}
				s.groups = append(s.groups, byReasons[key])
			}
			byReasons[key].rows = append(byReasons[key].rows, row)
		}
	}
	for _, g := range s.groups {
		slices.SortStableFunc(g.rows, func(a, b filters.Row) int {
			return cmp.Or(cmp.Compare(shortage(g.waiting.Task(), a), shortage(g.waiting.Task(), b)), cmp.Compare(a.Node.Name, b.Node.Name))
		})
	}
	slices.SortStableFunc(s.groups, func(a, b *group) int { return len(a.reasons) - len(b.reasons) })
	return s
}

// reasonsOf lists why a node refuses a task, so that one change can take each away.
func reasonsOf(t *api.Task, row filters.Row) []filters.Reason {
	var reasons []filters.Reason
	add := func(filter filters.Name, whats []string) {
		slices.Sort(whats)
		for _, what := range slices.Compact(whats) {
			reasons = append(reasons, filters.Reason{Filter: filter, What: what})
		}
	}
	for _, filter := range row.Verdicts.Fails() {
		switch filter {
		case filters.Resources:
			add(filter, shortOf(t, row))
		case filters.Constraints:
			add(filter, failing(t, row.Node.Node))
		default:
			add(filter, []string{""})
		}
	}
	return reasons
}

// shortOf names what a node lacks for a task; "" stands for memory or CPU of which more is reserved there than there is,
// and which swarmkit refuses for then although the task asks none (manager/scheduler.ResourceFilter.Check).
func shortOf(t *api.Task, row filters.Row) []string {
	short := slices.Collect(maps.Keys(row.Short(t)))
	for _, what := range []string{filters.Memory, filters.CPU} {
		if filters.Asked(t)[what] == 0 && row.Node.Free(what) < 0 {
			short = append(short, "")
		}
	}
	return short
}

// failing are the constraints of a task that a node does not meet.
func failing(t *api.Task, n *api.Node) []string {
	expressions, err := constraints.Parse(t.Spec.Placement.Constraints)
	if err != nil {
		return nil // swarmkit applies none of them
	}
	var fails []string
	for _, e := range expressions {
		if !e.Matches(n) {
			fails = append(fails, e.Text)
		}
	}
	return fails
}

// shortage is the largest share of what a task asks that the node lacks.
func shortage(t *api.Task, row filters.Row) float64 {
	most, asked := 0.0, filters.Asked(t)
	for what, short := range row.Short(t) {
		most = max(most, short/max(asked[what], 1e-9))
	}
	return most
}

// tasks is how many tasks of the diagnosis wait; for a global service that has none, one.
func (s *subject) tasks() int {
	n := 0
	for _, w := range s.Waiting {
		n += len(w.Tasks)
	}
	return n
}

// nearest is the rows of a group that are worth a change of the node itself.
func (g *group) nearest() []filters.Row { return g.rows[:min(len(g.rows), enough)] }

// only is the group with one of its nodes.
func (g *group) only(row filters.Row) *group {
	return &group{waiting: g.waiting, reasons: g.reasons, rows: []filters.Row{row}}
}

// failsOnly tells whether the group's nodes refuse, and for these filters only.
func (g *group) failsOnly(names ...filters.Name) bool {
	return len(g.reasons) > 0 && !slices.ContainsFunc(g.reasons, func(r filters.Reason) bool { return !slices.Contains(names, r.Filter) })
}

// fails tells whether the filter is among those that the group's nodes refuse for.
func (g *group) fails(filter filters.Name) bool {
	return slices.ContainsFunc(g.reasons, func(r filters.Reason) bool { return r.Filter == filter })
}
