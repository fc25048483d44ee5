package analyzer

import (
	"maps"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// judged is the matrix of a task, and what came of it.
type judged struct {
	task    *api.Task
	rows    []filters.Row
	used    bool // in this pass
	waiting *Waiting
}

// judge returns the matrix of a task, of which only the rows of nodes that changed are made anew.
func (p *Pass) judge(key string, t *api.Task) *judged {
	known := p.rows[key]
	if known == nil || known.task != t || len(filters.ClusterMounts(t)) > 0 {
		known = &judged{task: t}
		p.rows[key] = known
	}
	known.rows, known.used = p.Cluster.Rejudge(t, known.rows), true
	return known
}

// forget drops the matrices that this pass did not ask for.
func (p *Pass) forget() {
	maps.DeleteFunc(p.rows, func(_ string, known *judged) bool { return !known.used })
	for _, known := range p.rows {
		known.used = false
	}
}

// follow fills in what comes of the matrix: what came of the one before, as far as nothing that it rests on has changed.
func (w *Waiting) follow(before *Waiting) {
	differs := everything
	if before != nil && before.Service == w.Service {
		differs = w.differs(before)
	}
	if differs == everything {
		w.decide()
		w.explain()
		return
	}
	if differs&Holdings == 0 {
		w.decideAs(before)
	} else {
		w.decide()
	}
	if slices.Equal(w.Reasons, before.Reasons) && w.readsLike(before, readsOf(w.Reasons)&differs) {
		w.rule, w.finding, w.also = before.rule, before.finding, before.also
	} else {
		w.explain()
	}
	if w.showsLike(before) {
		w.groups = before.groups
	}
}

// readsLike tells whether the explanation before still holds although nodes differ in this. Of what constraints ask of a node, only
// some was read.
func (w *Waiting) readsLike(before *Waiting, differs Reads) bool {
	if differs != Keys {
		return differs == 0
	}
	for i := range w.Rows {
		if !w.alike(before, i) {
			return false
		}
	}
	return true
}

// alike tells whether the i-th node gives constraints what it gave them before, as far as the explanation then read it.
func (w *Waiting) alike(before *Waiting, i int) bool {
	was, is := before.Rows[i].Node, w.Rows[i].Node
	if was == is || w.Pass.differ[is.ID]&Keys == 0 {
		return true
	}
	return before.finding.keys != nil && constraints.Alike(was.Node, is.Node, before.finding.keys)
}

// differs tells in what the nodes of a matrix, and what waits, are others than before; everything where a node gives another
// verdict, too. What tasks that are about to end hold changes with the time.
func (w *Waiting) differs(before *Waiting) Reads {
	var d Reads
	if len(w.Rows) != len(before.Rows) {
		return everything
	}
	if w.Replicas != before.Replicas || !slices.Equal(w.Tasks, before.Tasks) {
		d |= Waiters
	}
	if len(w.Pass.ends) > 0 {
		d |= Holdings
	}
	for i, row := range w.Rows {
		old := before.Rows[i]
		if row.Node == old.Node {
			continue
		}
		differs, known := w.Pass.differ[row.Node.ID]
		if !known || row.Node.ID != old.Node.ID || row.Verdicts != old.Verdicts {
			return everything
		}
		d |= differs
	}
	return d
}

// decideAs takes over what was decided for the same verdicts and holdings.
func (w *Waiting) decideAs(before *Waiting) {
	w.Reasons = before.Reasons
	w.Wanted = w.own(before, before.Wanted)
	w.Eligible = w.own(before, before.Eligible)
	if before.Nearest != nil {
		i := slices.IndexFunc(w.Rows, func(row filters.Row) bool { return row.Node.ID == before.Nearest.Node.ID })
		w.Nearest = &w.Rows[i]
	}
}

// own returns those rows of the matrix that are these of the one before.
func (w *Waiting) own(before *Waiting, rows []filters.Row) []filters.Row {
	switch {
	case sameRows(rows, before.Rows):
		return w.Rows
	case sameRows(w.Rows, before.Rows) || len(rows) == 0:
		return rows
	}
	own, at := make([]filters.Row, len(rows)), 0
	for i, row := range before.Rows {
		if at < len(rows) && row.Node == rows[at].Node {
			own[at] = w.Rows[i]
			at++
		}
	}
	return own
}

// showsLike tells whether the groups of the matrix before still say why each node refuses: a group says it by the rules of
// the filters that its nodes fail.
func (w *Waiting) showsLike(before *Waiting) bool {
	for i, row := range w.Rows {
		if row.Node == before.Rows[i].Node {
			continue
		}
		for _, filter := range row.Verdicts.Fails() {
			reason := filters.Reason{Filter: filter, What: filters.Memory} // the rules of all resources read the same
			if differs := ruleFor(reason).Reads & w.Pass.differ[row.Node.ID]; differs != 0 && (differs != Keys || !w.alike(before, i)) {
				return false
			}
		}
	}
	return true
}

// readsOf is what the rules of these reasons go by.
func readsOf(reasons []filters.Reason) Reads {
	var all Reads
	for _, reason := range reasons {
		all |= ruleFor(reason).Reads
	}
	return all
}

// sameRows tells whether two matrices, or parts of them, are one and the same.
func sameRows(a, b []filters.Row) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
