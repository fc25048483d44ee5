package analyzer

import (
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
func (h constraintHelp) values(key constraints.Key, nodes []*api.Node) string {
	found := h.found(key, nodes)
	if len(found) == 0 {
		return ""
	}
	has, left := make([]string, len(found)), len(nodes)
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

// found groups nodes, which come by name, by what they have for a key: those that have nothing last.
func (h constraintHelp) found(key constraints.Key, nodes []*api.Node) []Found {
	if !key.Known() {
		return nil
	}
	values := map[string]*Found{}
	for _, n := range nodes {
		value := key.Value(n)
		f := values[value]
		if f == nil {
			f = &Found{Value: value}
			values[value] = f
		}
		f.Count++
		if f.Count <= most {
			f.Nodes = append(f.Nodes, h.name(n))
		}
	}
	without := values[""]
	delete(values, "")
	var found []Found
	for _, f := range values {
		found = append(found, *f)
	}
	found = commonest(found)
	if without != nil {
		without.Value = notSet
		found = append(found[:min(len(found), most-1)], *without)
	}
	return found
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
		fails = append(fails, fmt.Sprintf("%s (%s)", e.Text, h.values(e.Key, []*api.Node{h.Closest})))
	}
	return fmt.Sprintf("%s comes closest and fails %s", h.name(h.Closest), list(fails))
}
