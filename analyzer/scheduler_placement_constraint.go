package analyzer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var placementConstraint = register(&Rule{
	Cause:     "placement-constraint",
	Component: Scheduler,
	Title:     "the placement constraints leave no node",
	Doc: `No node meets all placement constraints of the service: one matches no node, two exclude each other, or one can never match. Keys other
than node.id, node.hostname, node.ip, node.role, node.platform.os, node.platform.arch, node.labels.NAME and engine.labels.NAME are
accepted and match nothing, not even with !=. The names of labels are case-sensitive; values are not, and are compared whole: there
are no patterns. node.labels are set with docker node update --label-add, engine.labels in the configuration of dockerd.

Correct the constraint (docker service update --constraint-rm OLD --constraint-add NEW), or give a node the label it asks for. What
each constraint matches, and the nearest that does match nodes, is in the evidence.`,
	Rejects: rejectedBy(filters.Constraints),
	Explain: explainConstraints,
	Why:     whyConstraints,
})

// notSet stands for what a node does not have.
const notSet = "(not set)"

func explainConstraints(w *Waiting, _ filters.Reason) Finding {
	expressions, err := constraints.Parse(w.Task().Spec.Placement.Constraints)
	if err != nil {
		return Finding{Summary: err.Error()} // never refused for: swarmkit's filter is off then
	}
	h := constraintHelp{w, constraints.Explain(expressions, nodesOf(w.Rows))}
	return Finding{Summary: h.summary(), Evidence: h.evidence(), Check: h.checks()}
}

func nodesOf(rows []filters.Row) []*api.Node {
	nodes := make([]*api.Node, len(rows))
	for i, row := range rows {
		nodes[i] = row.Node.Node
	}
	return nodes
}

// constraintHelp puts into words what the constraints of waiting tasks do.
type constraintHelp struct {
	w *Waiting
	constraints.Explanation
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
	if len(h.Exclusive) > 0 {
		pair := h.Exclusive[0]
		return fmt.Sprintf("%s both of its placement constraints %s (%s) and %s (%s)",
			none, pair.A.Text, h.matching(pair.A), pair.B.Text, h.matching(pair.B))
	}
	return fmt.Sprintf("%s all of its %s together; %s", none, count(len(h.Findings), "placement constraint"), h.closest())
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

// about tells of an expression that matches no node why, and what was probably meant.
func (h constraintHelp) about(f constraints.Finding) string {
	parts := []string{f.Never()}
	if f.Key.Known() {
		parts = append(parts, h.values(f.Key, f.Others))
	}
	return strings.Join(slices.DeleteFunc(append(parts, h.hints(f)...), func(s string) bool { return s == "" }), "; ")
}

// values tells what nodes have for a key: `env is "prod" on node-2, not set on node-1, node-3`.
func (h constraintHelp) values(key constraints.Key, nodes []*api.Node) string {
	found := h.found(key, nodes)
	var has []string
	left := len(nodes)
	for _, f := range found {
		value := "is " + strconv.Quote(f.Value)
		if f.Value == notSet {
			value = "is not set"
		}
		if f.Count > len(f.Nodes) {
			value += fmt.Sprintf(" on %s and %d more", strings.Join(f.Nodes, ", "), f.Count-len(f.Nodes))
		} else {
			value += " on " + strings.Join(f.Nodes, ", ")
		}
		has = append(has, value)
		left -= f.Count
	}
	if len(has) == 0 {
		return ""
	}
	sentence := key.Name() + " " + strings.Join(has, ", ")
	if left > 0 {
		sentence += fmt.Sprintf(", and something else on %s", count(left, "more node"))
	}
	return sentence
}

func (h constraintHelp) found(key constraints.Key, nodes []*api.Node) []Found {
	if !key.Known() {
		return nil
	}
	values := map[string][]string{}
	for _, n := range nodes {
		value := key.Value(n)
		if value == "" {
			value = notSet
		}
		values[value] = append(values[value], h.name(n))
	}
	return foundIn(values)
}

func (h constraintHelp) name(n *api.Node) string { return h.w.Pass.Cluster.Node(n.ID).Name }

func (h constraintHelp) names(nodes []*api.Node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = h.name(n)
	}
	slices.Sort(names)
	return list(names)
}

// hints are what was probably meant; of an unknown key at least how it is written.
func (h constraintHelp) hints(f constraints.Finding) []string {
	var hints []string
	for _, s := range f.Suggestions {
		hint := fmt.Sprintf("with %s %s: %s", s.Text, matches(len(s.Matches)), h.names(s.Matches))
		if s.Because != "" {
			hint += " (" + s.Because + ")"
		}
		if len(s.All) == 0 && len(h.Findings) > 1 {
			hint += ", but not the other constraints"
		}
		hints = append(hints, hint)
	}
	if proper := f.Key.Proper(); len(hints) == 0 && !f.Key.Known() && proper != "" {
		hints = append(hints, fmt.Sprintf("%s may be meant, and no node matches that either", strings.Replace(f.Text, f.Key.Text, proper, 1)))
	}
	return hints
}

func matches(n int) string {
	if n == 1 {
		return "1 node matches"
	}
	return strconv.Itoa(n) + " nodes match"
}

// matching tells which nodes match an expression alone.
func (h constraintHelp) matching(e constraints.Expression) string {
	i := slices.IndexFunc(h.Findings, func(f constraints.Finding) bool { return f.Text == e.Text })
	return "only " + h.names(h.Findings[i].Matches)
}

func (h constraintHelp) closest() string {
	var fails []string
	for _, e := range h.Fails {
		fails = append(fails, fmt.Sprintf("%s (%s)", e.Text, h.values(e.Key, []*api.Node{h.Closest})))
	}
	return fmt.Sprintf("%s comes closest and fails %s", h.name(h.Closest), list(fails))
}

// whyConstraints tells which constraints these nodes fail, and what they have instead.
func whyConstraints(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	expressions, err := constraints.Parse(w.Task().Spec.Placement.Constraints)
	if err != nil {
		return nil
	}
	h := constraintHelp{w: w}
	var why []string
	for _, e := range expressions {
		var fail []*api.Node
		for _, row := range rows {
			if !e.Matches(row.Node.Node) {
				fail = append(fail, row.Node.Node)
			}
		}
		switch {
		case len(fail) == 0:
		case e.Key.Known():
			why = append(why, e.Text+": "+h.values(e.Key, fail))
		default:
			why = append(why, e.Text+": "+e.Never())
		}
	}
	return firstOf(why)
}
