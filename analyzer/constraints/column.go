package constraints

import (
	"slices"

	"github.com/moby/swarmkit/v2/api"
)

// column is what nodes have for a key. What an expression makes of a node hangs on that alone, so that it is asked once for
// each value.
type column struct {
	values []string // each once
	of     []int32  // by node: which value it has
	first  []int    // by value: the first node that has it
}

func columnOf(key Key, nodes []*api.Node) *column {
	c := &column{of: make([]int32, len(nodes))}
	index := map[string]int32{}
	for j, n := range nodes {
		value := key.Value(n)
		i, known := index[value]
		if !known {
			i = int32(len(c.values))
			index[value] = i
			c.values, c.first = append(c.values, value), append(c.first, j)
		}
		c.of[j] = i
	}
	return c
}

// table is nodes with the columns that were asked for.
type table struct {
	nodes   []*api.Node
	columns map[Key]*column
}

func tableOf(nodes []*api.Node) *table { return &table{nodes, map[Key]*column{}} }

func (t *table) column(key Key) *column {
	key.Text = "" // as it was written does not matter
	if t.columns[key] == nil {
		t.columns[key] = columnOf(key, t.nodes)
	}
	return t.columns[key]
}

// values are what the nodes have for a key, each once, in order.
func (t *table) values(key Key) []string {
	values := slices.Clone(t.column(key).values)
	slices.Sort(values)
	return values
}

// matches tells of each node whether it satisfies the expression.
func (t *table) matches(e Expression) []bool {
	c := t.column(e.Key)
	each := make([]bool, len(c.values))
	for i, j := range c.first {
		each[i] = e.Matches(t.nodes[j])
	}
	all := make([]bool, len(t.nodes))
	for j, i := range c.of {
		all[j] = each[i]
	}
	return all
}

// Failing returns the nodes that do not satisfy the expression.
func (e Expression) Failing(nodes []*api.Node) []*api.Node {
	var failing []*api.Node
	for j, matches := range tableOf(nodes).matches(e) {
		if !matches {
			failing = append(failing, nodes[j])
		}
	}
	return failing
}
