package constraints

import (
	"fmt"
	"strings"
)

// Pair is two expressions that no node satisfies both.
type Pair struct {
	A, B Expression
	// Why they exclude each other.
	Why string
}

// contradictions finds the pairs that exclude each other on every node there could be, at most limit.
func contradictions(expressions []Expression, limit int) []Pair {
	var pairs []Pair
	for i, a := range expressions {
		for _, b := range expressions[i+1:] {
			if why := contradiction(a, b); why != "" && len(pairs) < limit {
				pairs = append(pairs, Pair{a, b, why})
			}
		}
	}
	return pairs
}

// contradiction tells why no node can satisfy both; empty where one could, or where one alone never matches.
func contradiction(a, b Expression) string {
	if !a.Key.looksAtSame(b.Key) || a.Never() != "" || b.Never() != "" {
		return ""
	}
	if !a.Equal && b.Equal {
		a, b = b, a
	}
	name := a.Key.Name()
	switch {
	case a.Equal && b.Equal && (a.Key.kind != address && !strings.EqualFold(a.Value, b.Value) ||
		a.Key.kind == address && disjoint(rangeOf(a.Value), rangeOf(b.Value))):
		return fmt.Sprintf("no node's %s is both %s and %s", name, a.Value, b.Value)
	case a.Equal && !b.Equal && (a.Key.kind != address && strings.EqualFold(a.Value, b.Value) ||
		a.Key.kind == address && within(rangeOf(a.Value), rangeOf(b.Value))):
		return fmt.Sprintf("no node's %s is %s and not %s", name, a.Value, b.Value)
	case a.Key.kind == role && !a.Equal && !b.Equal && isRole(a.Value) && isRole(b.Value) && !strings.EqualFold(a.Value, b.Value):
		return "every node is a manager or a worker"
	}
	return ""
}

func isRole(value string) bool {
	return strings.EqualFold(value, "manager") || strings.EqualFold(value, "worker")
}
