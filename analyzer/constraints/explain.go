package constraints

import (
	"maps"
	"slices"

	"github.com/moby/swarmkit/v2/api"
)

// most bounds the pairs that are told, and the nodes that have a value.
const most = 5

// Explanation is what a set of expressions does to a set of nodes.
type Explanation struct {
	// Findings are about each expression alone, in the order in which they were written.
	Findings []Finding
	// Matches are the nodes that satisfy all of them.
	Matches []*api.Node
	// Contradictions are pairs that no node there could be satisfies both.
	Contradictions []Pair
	// Exclusive are pairs of which each matches nodes, and none of these both.
	Exclusive []Pair
	// Closest is the node that fails the fewest expressions, of equal ones the first; Fails are those.
	Closest *api.Node
	Fails   []Expression
	// Keys are those that were read of the nodes, in no order; see Alike.
	Keys []Key
}

// Alike tells whether a node that was one and is the other now changes nothing in an explanation that read these keys: it has
// labels of the same names, and the same values for the keys.
func Alike(a, b *api.Node, keys []Key) bool {
	x, y := labelsOf([]*api.Node{a}), labelsOf([]*api.Node{b})
	return slices.Equal(x.node, y.node) && slices.Equal(x.engine, y.engine) &&
		!slices.ContainsFunc(keys, func(key Key) bool { return key.Value(a) != key.Value(b) })
}

// Finding is about one expression alone.
type Finding struct {
	Expression
	// Matches are the nodes that satisfy it, Others is what those that do not have for its key, in no order.
	Matches []*api.Node
	Others  []Having
	// Suggestions are what may have been meant, the likeliest first. Where all expressions together match nodes there are none.
	Suggestions []Suggestion
}

// Explain holds the expressions against the nodes of a table, one by one and together.
func Explain(expressions []Expression, t *Table) Explanation {
	clear(t.asked)
	x, nodes := Explanation{Contradictions: contradictions(expressions, most)}, t.nodes
	fails := make([][]bool, len(expressions)) // by expression and node
	failing := make([]int, len(nodes))
	for i, e := range expressions {
		fails[i] = make([]bool, len(nodes))
		finding, matches := Finding{Expression: e, Others: t.Failing(e)}, t.matches(e)
		for j, n := range nodes {
			if matches[j] {
				finding.Matches = append(finding.Matches, n)
				continue
			}
			fails[i][j] = true
			failing[j]++
		}
		x.Findings = append(x.Findings, finding)
	}
	for j, n := range nodes {
		if failing[j] == 0 {
			x.Matches = append(x.Matches, n)
		}
	}
	if len(x.Matches) == 0 && len(nodes) > 0 {
		x.exclude(fails)
		x.approach(nodes, fails, failing)
		x.suggest(t, fails, failing)
	}
	x.Keys = slices.Collect(maps.Keys(t.asked))
	return x
}

// exclude finds the pairs that exclude each other on these nodes and are no contradiction.
func (x *Explanation) exclude(fails [][]bool) {
	for i, a := range x.Findings {
		for j := i + 1; j < len(x.Findings); j++ {
			b := x.Findings[j]
			if len(x.Exclusive) == most {
				return
			}
			if len(a.Matches) > 0 && len(b.Matches) > 0 && contradiction(a.Expression, b.Expression) == "" && !meet(fails[i], fails[j]) {
				x.Exclusive = append(x.Exclusive, Pair{A: a.Expression, B: b.Expression, Why: "no node matches both"})
			}
		}
	}
}

// meet tells whether a node fails neither.
func meet(a, b []bool) bool {
	for i := range a {
		if !a[i] && !b[i] {
			return true
		}
	}
	return false
}

func (x *Explanation) approach(nodes []*api.Node, fails [][]bool, failing []int) {
	closest := 0
	for j := range nodes {
		if failing[j] < failing[closest] {
			closest = j
		}
	}
	x.Closest = nodes[closest]
	for i, f := range x.Findings {
		if fails[i][closest] {
			x.Fails = append(x.Fails, f.Expression)
		}
	}
}

// suggest looks for what was meant. An expression that matches nodes is hardly mistyped: of it only the same label in
// another case or of the other kind, where that makes nodes match all expressions.
func (x *Explanation) suggest(t *Table, fails [][]bool, failing []int) {
	for i := range x.Findings {
		f := &x.Findings[i]
		others := func(j int) bool { return failing[j] == 0 || failing[j] == 1 && fails[i][j] }
		for _, s := range suggest(f.Expression, t, others) {
			if len(f.Matches) == 0 || len(s.All) > 0 && s.Value == f.Value && s.Key.isLike(f.Key) {
				f.Suggestions = append(f.Suggestions, s)
			}
		}
	}
}
