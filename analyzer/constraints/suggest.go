package constraints

import (
	"cmp"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
)

const (
	// tries bounds how many corrections are held against the nodes, offers how many of them are offered.
	tries  = 12
	offers = 3
)

// Suggestion is a corrected expression that nodes do match.
type Suggestion struct {
	Expression
	// Because says what is wrong with the expression as it was written.
	Because string
	// Matches are the nodes that satisfy it; All are those of them that satisfy the other expressions too.
	Matches, All []*api.Node
}

// correction is a key or a value in place of the written one. It costs more the less likely it was meant.
type correction struct {
	text    string
	because string
	cost    int
}

// suggest returns the corrections of one expression that nodes match, the likeliest first. others tells whether a node
// satisfies the other expressions, by its place.
func suggest(e Expression, t *Table, others func(int) bool) []Suggestion {
	var found []Suggestion
	for _, c := range corrections(e, t) {
		s := Suggestion{Expression: c.Expression, Because: c.because}
		for j, matches := range t.matches(s.Expression) {
			if matches {
				s.Matches = append(s.Matches, t.nodes[j])
				if others(j) {
					s.All = append(s.All, t.nodes[j])
				}
			}
		}
		// Another key that excludes no node tells nothing of what != was meant to exclude.
		excludesNone := !e.Equal && e.Key.Known() && len(s.Matches) == len(t.nodes)
		if len(s.Matches) > 0 && !excludesNone {
			found = append(found, s)
		}
	}
	all := slices.Clone(found)
	found = slices.DeleteFunc(found, func(s Suggestion) bool { return s.strays(e, all) })
	slices.SortStableFunc(found, func(a, b Suggestion) int { return min(len(b.All), 1) - min(len(a.All), 1) })
	return found[:min(len(found), offers)]
}

// strays tells whether a suggestion has another value than was written, although another one keeps that: with the same key,
// where that would do, or with one that names a node, which is then the one that is meant, whatever else is asked of it.
func (s Suggestion) strays(e Expression, all []Suggestion) bool {
	return s.Value != e.Value && slices.ContainsFunc(all, func(other Suggestion) bool {
		return other.Value == e.Value && (other.Key.identifies() || other.Key.Text == s.Key.Text && len(other.All) > 0)
	})
}

type corrected struct {
	Expression
	because string
	cost    int
}

// corrections combines other keys with other values, the cheapest first. Of != only what can never match is corrected:
// any other value would match more nodes, and tell nothing.
func corrections(e Expression, t *Table) []corrected {
	if !e.Equal && e.Never() == "" {
		return nil
	}
	var all []corrected
	seen := map[string]bool{}
	if written, ok := e.with(e.Key.Text, e.Value); ok {
		seen[written.Text] = true
	}
	for _, key := range append(otherKeys(e.Key, t.labelNames()), correction{text: e.Key.Text}) {
		for _, value := range append(otherValues(e, ParseKey(key.text), t), correction{text: e.Value}) {
			with, ok := e.with(key.text, value.text)
			if !ok || seen[with.Text] {
				continue
			}
			seen[with.Text] = true
			reasons := slices.DeleteFunc([]string{key.because, value.because}, func(s string) bool { return s == "" })
			all = append(all, corrected{with, strings.Join(reasons, ", and "), key.cost + value.cost})
		}
	}
	slices.SortStableFunc(all, func(a, b corrected) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.Text, b.Text))
	})
	return all[:min(len(all), tries)]
}
