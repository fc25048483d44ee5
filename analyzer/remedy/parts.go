package remedy

import (
	"cmp"
	"context"
	"slices"
)

// Bounds of what is tried where some change places a part of what waits.
const (
	// mostParts is how many such changes are put together with each other.
	mostParts = 4
	// further is how many sets are tried that take away several reasons of one node.
	further = 8
)

// part is a change that places a part of what waits, and how many tasks.
type part struct {
	proposal
	places int
}

// notePart remembers a change that works if others can be done with it: merge would make nonsense of a command that the next
// takes back.
func (s *search) notePart(p proposal, places int) {
	if places > 0 && places < s.subject.tasks() && p.at == "" && len(merge(p.commands)) == len(p.commands) {
		s.parts = append(s.parts, part{p, places})
	}
}

// together tries, where single changes place a part only, two and three of them with each other, then sets that open a node
// with several reasons. A set is kept if it places more than all that was found before.
func (s *search) together(ctx context.Context) error {
	sets := s.subject.sets()
	for _, set := range slices.Concat(combinations(s.parts), sets[:min(len(sets), further)]) {
		most := s.best()
		if most >= s.subject.tasks() {
			return nil
		}
		r, err := s.minimal(ctx, set, most)
		if err != nil {
			return err
		}
		if r != nil {
			s.keep(*r)
		}
	}
	return nil
}

// combinations are the sets of two, then of three parts that are not done to the same thing, those first that place most.
func combinations(parts []part) [][]proposal {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.places, a.places) })
	parts = parts[:min(len(parts), mostParts)]
	var sets [][]proposal
	sizes := [][][]proposal{{nil}}
	for size := 1; size <= largestSet; size++ {
		sizes = append(sizes, nil)
	}
	for _, p := range parts {
		for size := largestSet; size > 0; size-- {
			for _, set := range sizes[size-1] {
				if !slices.ContainsFunc(set, p.overlaps) {
					sizes[size] = append(sizes[size], append(slices.Clone(set), p.proposal))
				}
			}
		}
	}
	for _, larger := range sizes[2:] {
		sets = append(sets, larger...)
	}
	return sets
}

// overlaps tells whether two proposals are done to the same thing.
func (p proposal) overlaps(other proposal) bool {
	return slices.ContainsFunc(p.commands, func(a command) bool {
		return slices.ContainsFunc(other.commands, func(b command) bool { return a.verb == b.verb && a.object == b.object })
	})
}
