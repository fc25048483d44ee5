package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "placement-constraint",
	Component: Scheduler,
	Title:     "the placement constraints leave no node",
	Doc: `No node meets all placement constraints of the service: one matches no node, two exclude each other, or one can never match. Keys other
than node.id, node.hostname, node.ip, node.role, node.platform.os, node.platform.arch, node.labels.NAME and engine.labels.NAME are
accepted and match nothing, not even with !=. The names of labels are case-sensitive; values are not, and are compared whole: there
are no patterns. node.labels are set with docker node update --label-add, engine.labels in the configuration of dockerd.

Correct the constraint (docker service update --constraint-rm OLD --constraint-add NEW), give a node the label it asks for, or take off
one that it does not want (docker node update --label-rm NAME NODE). What each constraint matches, and the nearest that does match
nodes, is in the evidence.`,
	Rejects: rejectedBy(filters.Constraints),
	Reads:   Keys,
	Explain: explainConstraints,
	Why:     whyConstraints,
})

func explainConstraints(w *Waiting, _ filters.Reason) Finding {
	expressions, err := constraints.Parse(w.Task().Spec.Placement.Constraints)
	if err != nil {
		return Finding{Summary: err.Error()} // never refused for: swarmkit's filter is off then
	}
	h := constraintHelp{w, constraints.Explain(expressions, w.table())}
	return Finding{
		Summary: h.summary(), Evidence: h.evidence(), Check: h.checks(), behind: h.things(),
		keys: append(h.Keys, h.keysToShow()...),
	}
}

// things are the expressions that no node matches; a task of a global service is judged on its own node only.
func (h constraintHelp) things() []thing {
	if h.w.Task().NodeID != "" {
		return nil
	}
	var all []thing
	for _, f := range h.unmatched() {
		operator := "!="
		if f.Equal {
			operator = "=="
		}
		text := f.Key.Text + operator + f.Value
		all = append(all, thing{"placement-constraint", Subject{Kind: ConstraintSubject, Name: text}, "no node matches the placement constraint " + text})
	}
	return all
}

// table is the nodes of the matrix: those of the whole cluster are read once in a pass.
func (w *Waiting) table() *constraints.Table {
	if len(w.Rows) != len(w.Pass.Cluster.Nodes()) {
		return constraints.NewTable(nodesOf(w.Rows))
	}
	if w.Pass.table == nil {
		w.Pass.table = constraints.NewTable(nodesOf(w.Rows))
	}
	return w.Pass.table
}

func nodesOf(rows []filters.Row) []*api.Node {
	nodes := make([]*api.Node, len(rows))
	for i, row := range rows {
		nodes[i] = row.Node.Node
	}
	return nodes
}

// whyConstraints tells which constraints these nodes fail, and what they have instead.
func whyConstraints(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	expressions, err := constraints.Parse(w.Task().Spec.Placement.Constraints)
	if err != nil {
		return nil
	}
	byName := func(a, b filters.Row) int { return strings.Compare(a.Node.Name, b.Node.Name) }
	if !slices.IsSortedFunc(rows, byName) { // those of a global service come by their distance
		rows = slices.SortedFunc(slices.Values(rows), byName)
	}
	h, table := constraintHelp{w: w}, w.table().Among(nodesOf(rows))
	var why []string
	for _, e := range expressions {
		fail := table.Failing(e)
		switch {
		case len(fail) == 0:
		case e.Key.Known():
			why = append(why, e.Text+": "+h.values(e.Key, fail))
		default:
			why = append(why, e.Text+": "+e.Never())
		}
	}
	return why[:min(len(why), most)]
}

// summary tells the first of: a contradiction, expressions that match no node, a pair that excludes each other, how
// close the closest node comes.
func (h constraintHelp) summary() string {
	none := h.lead()
	if len(h.Contradictions) > 0 {
		pair := h.Contradictions[0]
		return fmt.Sprintf("its placement constraints %s and %s contradict each other: %s", pair.A.Text, pair.B.Text, pair.Why)
	}
	if unmatched := h.unmatched(); len(unmatched) > 0 {
		sentence := fmt.Sprintf("%s its placement constraint %s: %s", none, unmatched[0].Text, h.about(unmatched[0]))
		if more := unmatched[1:]; len(more) > 0 {
			sentence += fmt.Sprintf("; nor %s", list(textsOf(more)))
		}
		return sentence
	}
	sentence := fmt.Sprintf("%s all of its %s together; %s", none, count(len(h.Findings), "placement constraint"), h.closest())
	if len(h.Exclusive) > 0 {
		pair := h.Exclusive[0]
		sentence = fmt.Sprintf("%s both of its placement constraints %s (%s) and %s (%s)",
			none, pair.A.Text, h.matching(pair.A), pair.B.Text, h.matching(pair.B))
	}
	for _, f := range h.Findings { // of those that match nodes, what is suggested makes nodes match them all
		if hints := h.hints(f); len(hints) > 0 {
			return sentence + "; " + hints[0]
		}
	}
	return sentence
}

// lead begins the sentence: a task of a global service is judged on its own node only.
func (h constraintHelp) lead() string {
	if h.w.Task().NodeID != "" {
		return fmt.Sprintf("%s, the node of this task of a global service, does not match", h.w.Rows[0].Node.Name)
	}
	return "no node matches"
}

// unmatched are the expressions that match no node, those that can never match first.
func (h constraintHelp) unmatched() []constraints.Finding {
	var found []constraints.Finding
	for _, never := range []bool{true, false} {
		for _, f := range h.Findings {
			if len(f.Matches) == 0 && (f.Never() != "") == never {
				found = append(found, f)
			}
		}
	}
	return found
}

func textsOf(findings []constraints.Finding) []string {
	var texts []string
	for _, f := range findings {
		texts = append(texts, f.Text)
	}
	return texts
}

// about tells of an expression that matches no node why, and what was most probably meant.
func (h constraintHelp) about(f constraints.Finding) string {
	parts := []string{f.Never(), h.values(f.Key, f.Others)}
	if hints := h.hints(f); len(hints) > 0 {
		parts = append(parts, hints[0])
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}
