package capacity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// mostKinds is how many kinds of nodes are looked at: those with the most nodes.
const mostKinds = 8

// kind is nodes that the scheduler would treat alike were they empty workers.
type kind struct {
	like  *filters.Node
	nodes int
}

// kindsOf tells the nodes apart by their resources, platform, plugins, and what constraints of services look at; a worker
// stands for its kind rather than a manager, then the first by name.
func kindsOf(cluster *filters.Cluster, state *collector.State) []*kind {
	keys := constraintKeys(state)
	byKey := map[string]*kind{}
	nodes := slices.Clone(cluster.Nodes())
	slices.SortStableFunc(nodes, func(a, b *filters.Node) int { return cmp.Compare(a.Role, b.Role) })
	var kinds []*kind
	for _, n := range nodes {
		if n.Description == nil {
			continue
		}
		key := kindKey(n.Node, keys)
		if byKey[key] == nil {
			byKey[key] = &kind{like: n}
			kinds = append(kinds, byKey[key])
		}
		byKey[key].nodes++
	}
	slices.SortStableFunc(kinds, func(a, b *kind) int { return cmp.Or(b.nodes-a.nodes, cmp.Compare(a.like.Name, b.like.Name)) })
	return kinds[:min(len(kinds), mostKinds)]
}

// constraintKeys are what the constraints of services look at, but for what a node that joins does not share with the one that
// it is like: what is another one on every node, and the role.
func constraintKeys(state *collector.State) []constraints.Key {
	keys := map[string]constraints.Key{}
	for s := range state.Services() {
		if s.Spec.Task.Placement == nil {
			continue
		}
		expressions, err := constraints.Parse(s.Spec.Task.Placement.Constraints)
		if err != nil {
			continue // swarmkit applies none of them
		}
		for _, e := range expressions {
			switch name := e.Key.Name(); name {
			case "node.id", "node.hostname", "node.ip", "node.role":
			default:
				keys[name] = e.Key
			}
		}
	}
	sorted := make([]constraints.Key, 0, len(keys))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		sorted = append(sorted, keys[name])
	}
	return sorted
}

func kindKey(n *api.Node, keys []constraints.Key) string {
	d := n.Description
	parts := []string{amounts(d.Resources)}
	if d.Platform != nil {
		parts = append(parts, d.Platform.OS+"/"+d.Platform.Architecture)
	}
	if d.Engine != nil {
		var plugins []string
		for _, p := range d.Engine.Plugins {
			plugins = append(plugins, p.Type+" "+p.Name)
		}
		slices.Sort(plugins)
		parts = append(parts, strings.Join(plugins, ","))
	}
	for _, key := range keys {
		parts = append(parts, key.Name()+"="+key.Value(n))
	}
	return strings.Join(parts, "\x00")
}

// amounts writes what a node has, rounded to what a person would call the same: two machines of one type differ by some
// pages of memory.
func amounts(r *api.Resources) string {
	if r == nil {
		return ""
	}
	generic := map[string]int64{}
	for _, g := range r.Generic {
		if discrete := g.GetDiscreteResourceSpec(); discrete != nil {
			generic[discrete.Kind] += discrete.Value
		}
		if named := g.GetNamedResourceSpec(); named != nil {
			generic[named.Kind]++
		}
	}
	const step = 256 << 20
	text := fmt.Sprint((r.MemoryBytes+step/2)/step, " ", r.NanoCPUs)
	for _, name := range slices.Sorted(maps.Keys(generic)) {
		text += fmt.Sprint(" ", name, " ", generic[name])
	}
	return text
}

// more are nodes of the kind that join, as workers; no real node has such an id.
func (k *kind) more(number int) []*api.Node {
	nodes := make([]*api.Node, number)
	for i := range nodes {
		nodes[i] = analyzer.Joining(k.like.Node, fmt.Sprintf("new node %d", i+1))
	}
	return nodes
}
