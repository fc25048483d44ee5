package analyzer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
)

// constraintHelp puts into words what the constraints of waiting tasks do.
type constraintHelp struct {
	w *Waiting
	constraints.Explanation
}

// notSet stands for what a node does not have.
const notSet = "(not set)"

// values tells what nodes have for a key: `env is "prod" on node-2, not set on node-1, node-3`.
func (h constraintHelp) values(key constraints.Key, having []constraints.Having) string {
	found := h.found(key, having)
	if len(found) == 0 {
		return ""
	}
	has, left := make([]string, len(found)), 0
	for _, have := range having {
		left += have.Count
	}
	for i, f := range found {
		left -= f.Count
		switch has[i] = strconv.Quote(f.Value); {
		case f.Value == notSet:
			has[i] = "not set on " + f.named()
		case f.Value != f.Nodes[0]: // else it is the node's name
			has[i] += " on " + f.named()
		}
	}
	sentence := key.Name() + " is " + strings.Join(has, ", ")
	if left > 0 {
		sentence += fmt.Sprintf(", and something else on %s", count(left, "more node"))
	}
	return sentence
}

// named writes the nodes for a person: those that are named and how many more there are.
func (f Found) named() string {
	names := strings.Join(f.Nodes, ", ")
	if more := f.Count - len(f.Nodes); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names
}

// found shows what nodes have for a key, the commonest first, and that they have nothing last.
func (h constraintHelp) found(key constraints.Key, having []constraints.Having) []Found {
	if !key.Known() {
		return nil
	}
	having = slices.SortedFunc(slices.Values(having), func(a, b constraints.Having) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Value, b.Value))
	})
	room := most
	without := slices.IndexFunc(having, func(have constraints.Having) bool { return have.Value == "" })
	if without >= 0 {
		room--
	}
	var found []Found
	for i, have := range having {
		if i != without && len(found) < room {
			found = append(found, h.foundAt(have.Value, have))
		}
	}
	if without >= 0 {
		found = append(found, h.foundAt(notSet, having[without]))
	}
	return found
}

func (h constraintHelp) foundAt(value string, have constraints.Having) Found {
	f := Found{Value: value, Count: have.Count}
	for _, n := range have.First {
		f.Nodes = append(f.Nodes, h.name(n))
	}
	return f
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
		switch {
		case len(h.Findings) == 1:
		case len(s.All) == 0:
			hint += ", but not the other constraints"
		default:
			hint += ", and the other constraints: " + h.names(s.All)
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
		fails = append(fails, fmt.Sprintf("%s (%s)", e.Text, h.values(e.Key, constraints.NewTable([]*api.Node{h.Closest}).Failing(e))))
	}
	return fmt.Sprintf("%s comes closest and fails %s", h.name(h.Closest), list(fails))
}
