package constraints

import (
	"slices"

	"github.com/moby/swarmkit/v2/api"
)

// Having is the nodes that have the same value for a key.
type Having struct {
	Value string
	// Count is how many they are, First the first of them.
	Count int
	First []*api.Node
}

// column is what nodes have for a key. What an expression makes of a node hangs on that alone, so that it is asked once for
// each value.
type column struct {
	values []Having // each value once
	of     []int32  // by node: which value it has
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
			c.values = append(c.values, Having{Value: value})
		}
		c.add(j, i, n)
	}
	return c
}

// among is the column of some of the nodes; places tells of each where in this one it is.
func (c *column) among(nodes []*api.Node, places []int) *column {
	part := &column{of: make([]int32, len(nodes))}
	known := make([]int32, len(c.values)) // by value here: which it is there, and 1 more
	for j, n := range nodes {
		value := c.of[places[j]]
		if known[value] == 0 {
			part.values = append(part.values, Having{Value: c.values[value].Value})
			known[value] = int32(len(part.values))
		}
		part.add(j, known[value]-1, n)
	}
	return part
}

// add notes that a node has a value.
func (c *column) add(j int, value int32, n *api.Node) {
	c.of[j] = value
	have := &c.values[value]
	if have.Count++; have.Count <= most {
		have.First = append(have.First, n)
	}
}

// matches tells of each value whether it satisfies the expression.
func (c *column) matches(e Expression) []bool {
	each := make([]bool, len(c.values))
	for i, have := range c.values {
		each[i] = e.Matches(have.First[0])
	}
	return each
}

// Table is nodes, and what they have for the keys that they were asked for. It is not safe for use by several goroutines.
type Table struct {
	nodes   []*api.Node
	columns map[Key]*column
	asked   map[Key]bool // since the last explanation began
	labels  *labels      // once they are asked for

	whole  *Table            // what this is a part of
	places []int             // by node: where in the whole it is
	index  map[*api.Node]int // where each node is, once a part is asked for
}

// NewTable returns a table of these nodes.
func NewTable(nodes []*api.Node) *Table {
	return &Table{nodes: nodes, columns: map[Key]*column{}, asked: map[Key]bool{}}
}

// Among returns a table of these nodes. Where all of them are in this one, it reads none that this one has read.
func (t *Table) Among(nodes []*api.Node) *Table {
	if t.index == nil {
		t.index = make(map[*api.Node]int, len(t.nodes))
		for i, n := range t.nodes {
			t.index[n] = i
		}
	}
	part, places := NewTable(nodes), make([]int, len(nodes))
	for j, n := range nodes {
		place, has := t.index[n]
		if !has {
			return part
		}
		places[j] = place
	}
	part.whole, part.places = t, places
	return part
}

func (t *Table) column(key Key) *column {
	key.Text = "" // as it was written does not matter
	t.asked[key] = true
	return t.read(key)
}

func (t *Table) read(key Key) *column {
	if t.columns[key] != nil {
		return t.columns[key]
	}
	if t.whole == nil {
		t.columns[key] = columnOf(key, t.nodes)
	} else {
		t.columns[key] = t.whole.read(key).among(t.nodes, t.places)
	}
	return t.columns[key]
}

// values are what the nodes have for a key, each once, in order.
func (t *Table) values(key Key) []string {
	var values []string
	for _, have := range t.column(key).values {
		values = append(values, have.Value)
	}
	slices.Sort(values)
	return values
}

// matches tells of each node whether it satisfies the expression.
func (t *Table) matches(e Expression) []bool {
	c := t.column(e.Key)
	each, all := c.matches(e), make([]bool, len(t.nodes))
	for j, i := range c.of {
		all[j] = each[i]
	}
	return all
}

// Failing returns the nodes that do not satisfy the expression, by what they have for its key, in no order.
func (t *Table) Failing(e Expression) []Having {
	c := t.column(e.Key)
	var failing []Having
	for i, matches := range c.matches(e) {
		if !matches {
			failing = append(failing, c.values[i])
		}
	}
	return failing
}
