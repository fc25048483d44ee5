package analyzer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// explainPending finds why no node takes the pending tasks of a service: once for each version of its spec, and for
// preassigned tasks once for each node.
func (p *Pass) explainPending(f *Followed) {
	entries := map[string][]*Stuck{} // by spec version and node
	for _, s := range f.Stuck {
		if s.State == stateOfPending {
			key := specKey(s.Task) + s.Task.NodeID
			entries[key] = append(entries[key], s)
		}
	}
	waiting := map[*Waiting][]*Stuck{}
	for key, stuck := range entries {
		w := p.await(f, f.Service.ID+"/"+key, stuck)
		if w.rule == nil {
			p.noteUnplaced(f, w, stuck)
			continue
		}
		if due := p.dueAlike(w, stuck); len(due) > 0 {
			waiting[w] = due
		}
	}
	for _, alike := range p.alike(waiting) {
		var stuck []*Stuck
		for _, w := range alike {
			stuck = append(stuck, waiting[w]...)
		}
		p.explainAlike(f, alike, stuck)
	}
}

// await judges pending tasks that are equal in all that filters look at.
func (p *Pass) await(f *Followed, key string, stuck []*Stuck) *Waiting {
	w := &Waiting{Pass: p, Service: f.Service, Replicas: f.Wanted}
	for _, entry := range stuck {
		w.Tasks = append(w.Tasks, entry.Task)
	}
	slices.SortFunc(w.Tasks, compareAge)
	known := p.judge(key, w.Task())
	w.Rows = known.rows
	w.follow(known.waiting)
	known.waiting = w
	return w
}

// noteUnplaced keeps for later what a node would take, where nothing about that is unknown.
func (p *Pass) noteUnplaced(f *Followed, w *Waiting, stuck []*Stuck) {
	if w.Nearest == nil || slices.Contains(w.Nearest.Verdicts[:], filters.Unknown) {
		return
	}
	p.unplaced = append(p.unplaced, &unplaced{f: f, w: w, stuck: stuck, stale: p.isGivenUp(f.Service, w.Task())})
}

// dueAlike returns the entries that count now. That no node takes them proves the cause, unless a node will once tasks
// that are stopping have ended: then it is no fault before their time is up.
func (p *Pass) dueAlike(w *Waiting, stuck []*Stuck) []*Stuck {
	until, waits := p.fitsAfterStops(w.Task())
	var due []*Stuck
	for _, s := range stuck {
		if waits {
			s.notBefore = until
		}
		if p.Due(s, !waits) {
			due = append(due, s)
		}
	}
	return due
}

const stateOfPending = "pending"

// specKey tells versions of a spec apart.
func specKey(t *api.Task) string {
	if t.SpecVersion == nil {
		return ""
	}
	return fmt.Sprint(t.SpecVersion.Index) + "/"
}

// alike puts together what is one fault: the same spec, cause and shape, on however many nodes of a global service.
func (p *Pass) alike(waiting map[*Waiting][]*Stuck) [][]*Waiting {
	groups := map[string][]*Waiting{}
	for w := range waiting {
		key := fmt.Sprint(isCurrent(w.Service, w.Task()), w.rule.Cause, w.finding.Shape)
		groups[key] = append(groups[key], w)
	}
	sorted := make([][]*Waiting, 0, len(groups))
	for _, group := range groups {
		slices.SortFunc(group, compareNearest)
		sorted = append(sorted, group)
	}
	slices.SortFunc(sorted, func(a, b []*Waiting) int { return compareAge(a[0].Task(), b[0].Task()) })
	return sorted
}

// compareNearest puts the waiting whose nearest node comes closest first; of tasks without one the older.
func compareNearest(a, b *Waiting) int {
	if a.Nearest != nil && b.Nearest != nil {
		return cmp.Or(a.compare(*a.Nearest, *b.Nearest), compareAge(a.Task(), b.Task()))
	}
	return compareAge(a.Task(), b.Task())
}

// explain asks the rule of the first reason. There is none where a node would take the task, or where there is no node at all.
func (w *Waiting) explain() {
	if len(w.Reasons) > 0 {
		w.rule = ruleFor(w.Reasons[0])
		w.finding = w.rule.Explain(w, w.Reasons[0])
	}
}

// further is what the rules of the other reasons say.
func (w *Waiting) further() []Also {
	if w.also == nil {
		w.also = []Also{}
		for _, reason := range w.Reasons[min(1, len(w.Reasons)):] {
			rule := ruleFor(reason)
			finding := rule.Explain(w, reason)
			w.also = append(w.also, Also{Cause: rule.Cause, Shape: finding.Shape, Evidence: finding.Evidence})
		}
	}
	return w.also
}

// explainAlike reports one diagnosis; the evidence is that of the node that comes closest.
func (p *Pass) explainAlike(f *Followed, alike []*Waiting, stuck []*Stuck) {
	w := alike[0]
	slices.SortStableFunc(stuck, func(a, b *Stuck) int { return a.Since.Compare(b.Since) })
	rule, finding := w.rule, w.finding
	if more := len(alike) - 1; more > 0 {
		finding.Summary += fmt.Sprintf("; the same cause keeps it from %s", count(more, "more node"))
	}
	p.Report(rule, rule.Component, f, stuck, finding, func(d *Diagnosis) {
		d.DockerSays = w.Task().Status.Err
		d.Waiting, d.HealsItself = alike, p.healsItself(w)
		rows := w.Rows
		for _, one := range alike[1:] {
			if specKey(one.Task()) == specKey(w.Task()) {
				rows = append(slices.Clip(rows), one.Rows...)
			}
		}
		d.Nodes = w.nodeGroups(rows)
		d.Nearest = nearest(w)
		d.Also = append(d.Also, w.further()...)
	})
}

func nearest(w *Waiting) *Nearest {
	if w.Nearest == nil {
		return nil
	}
	n := &Nearest{Node: w.Nearest.Node.Name, Fails: []string{}}
	for _, filter := range w.Nearest.Verdicts.Fails() {
		n.Fails = append(n.Fails, filter.String())
	}
	short := w.Nearest.Short(w.Task())
	for _, what := range w.shortest(*w.Nearest) {
		n.Short = append(n.Short, Short{What: what, Unit: unitOf(what), Short: short[what]})
	}
	return n
}

// nodeGroups is groupNodes, once for a matrix that stays as it is.
func (w *Waiting) nodeGroups(rows []filters.Row) []NodeGroup {
	if !sameRows(rows, w.Rows) {
		return groupNodes(w, rows)
	}
	if w.groups == nil {
		w.groups = groupNodes(w, rows)
	}
	return w.groups
}

// groupNodes shows the matrix, nodes with the same verdicts as one group: those that come closest first.
func groupNodes(w *Waiting, rows []filters.Row) []NodeGroup {
	alike := byVerdicts(rows)
	slices.SortStableFunc(alike, func(a, b []filters.Row) int {
		return a[0].Verdicts.Count(filters.Fail) - b[0].Verdicts.Count(filters.Fail)
	})
	groups := make([]NodeGroup, 0, len(alike))
	for _, members := range alike {
		verdicts := members[0].Verdicts
		group := NodeGroup{Names: make([]string, len(members)), Verdicts: verdicts.Map(), Why: []string{}}
		for i, row := range members {
			group.Names[i] = row.Node.Name
		}
		for _, filter := range verdicts.Fails() {
			for _, reason := range reasons(w, filter, members) {
				group.Why = append(group.Why, ruleFor(reason).Why(w, reason, members)...)
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// byVerdicts puts together the rows with the same verdicts. There are few kinds, so that looking through them is fastest.
func byVerdicts(rows []filters.Row) [][]filters.Row {
	var alike [][]filters.Row
	for _, row := range rows {
		i := slices.IndexFunc(alike, func(members []filters.Row) bool { return members[0].Verdicts == row.Verdicts })
		if i < 0 {
			i = len(alike)
			alike = append(alike, nil)
		}
		alike[i] = append(alike[i], row)
	}
	return alike
}

// reasons are what a filter lacks on any of the nodes.
func reasons(w *Waiting, filter filters.Name, rows []filters.Row) []filters.Reason {
	if filter != filters.Resources {
		return []filters.Reason{{Filter: filter}}
	}
	var all []filters.Reason
	asked := filters.Asked(w.Task())
	for _, what := range []string{filters.CPU, filters.Memory} { // short where too much is reserved already, too
		if _, asks := asked[what]; !asks {
			asked[what] = 0
		}
	}
	for _, what := range slices.Sorted(maps.Keys(asked)) {
		if slices.ContainsFunc(rows, func(row filters.Row) bool { return row.Lacks(w.Task(), what) }) {
			all = append(all, filters.Reason{Filter: filter, What: what})
		}
	}
	return all
}

func compareAge(a, b *api.Task) int {
	if d := created(a).Compare(created(b)); d != 0 {
		return d
	}
	return strings.Compare(a.ID, b.ID)
}
