package remedy

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Bounds of what is tried where some change places a part of what waits.
const (
	// mostParts is how many such changes are put together with each other.
	mostParts = 4
	// further is how many sets that take away several reasons of one node are tried for one that places more.
	further = 8
)

// part is a change, or some together, that places a part of what waits, and how many tasks.
type part struct {
	members []proposal
	places  int
}

// notePart remembers what works if others can be done with it: merge would make nonsense of a command that the next takes
// back.
func (s *search) notePart(members []proposal, places int) {
	if places == 0 || places == s.subject.tasks() {
		return
	}
	for _, p := range members {
		if p.change == nil || p.at != "" || len(merge(p.commands)) != len(p.commands) {
			return
		}
	}
	s.parts = append(s.parts, part{members, places})
}

// together tries, where single changes place a part only, two and three of them with each other. A set is kept if it places more
// than all that was found before.
func (s *search) together(ctx context.Context) error {
	s.cut = s.cut || len(s.parts) > mostParts
	for _, set := range combinations(s.parts) {
		most := s.best()
		if most >= s.subject.tasks() {
			return nil
		}
		if _, err := s.keepMinimal(ctx, set, most); err != nil {
			return err
		}
	}
	return nil
}

// mostFirst are parts, those first that place most.
func mostFirst(parts []part) []part {
	return slices.SortedStableFunc(slices.Values(parts), func(a, b part) int { return cmp.Compare(b.places, a.places) })
}

// combinations are the sets of two, then of three parts that are not done to the same thing, those first that place most.
func combinations(parts []part) [][]proposal {
	parts = mostFirst(parts)
	parts = parts[:min(len(parts), mostParts)]
	var sets [][]proposal
	sizes := [][][]proposal{{nil}}
	for size := 1; size <= largestSet; size++ {
		sizes = append(sizes, nil)
	}
	for _, p := range parts {
		for size := largestSet; size > 0; size-- {
			for _, set := range sizes[size-1] {
				if !slices.ContainsFunc(set, p.members[0].overlaps) {
					sizes[size] = append(sizes[size], append(slices.Clone(set), p.members[0]))
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
	return p.meets(other, func(command, command) bool { return true })
}

// contradicts tells whether two proposals give a flag of the same command another value each.
func (p proposal) contradicts(other proposal) bool { return p.meets(other, command.sharesFlag) }

// meets tells whether there is a command in each that is done to the same thing, and of which this is so.
func (p proposal) meets(other proposal, isSo func(a, b command) bool) bool {
	return slices.ContainsFunc(p.commands, func(a command) bool {
		return slices.ContainsFunc(other.commands, func(b command) bool { return a.verb == b.verb && a.object == b.object && isSo(a, b) })
	})
}

// sharesFlag tells whether two commands have a flag in common, whatever its value.
func (c command) sharesFlag(other command) bool {
	return slices.ContainsFunc(c.flags, func(f string) bool {
		name, _, _ := strings.Cut(f, " ")
		return slices.ContainsFunc(other.flags, func(f string) bool { return strings.HasPrefix(f, name+" ") })
	})
}
