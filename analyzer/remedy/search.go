package remedy

import (
	"context"
	"slices"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Bounds of what is tried and offered.
const (
	// largestSet is how many changes are made together at most; promising for how many groups of nodes, and how many of each.
	largestSet = 3
	promising  = 8
	// enough is how many alternatives of one kind are offered.
	enough = 2
)

// leftOut is told where nothing places all, and a bound on how much is tried left something out.
const leftOut = "there are more combinations of changes than were tried"

// search tries proposals, and keeps what works.
type search struct {
	subject *subject
	trial   *trial
	found   Found
	tried   map[string]*analyzer.Remedy // by command; nil where it does not help
	parts   []part
	// cut tells that a bound on how much is tried left something out.
	cut bool
}

func (s *search) run(ctx context.Context) error {
	for range 2 { // the second time without the constraints that cannot be kept
		before := len(s.found.Remedies)
		for _, kind := range []func(context.Context) error{s.single, s.together, s.sets, s.complete} {
			if err := kind(ctx); err != nil || s.best() >= s.subject.tasks() {
				return err
			}
		}
		if len(s.found.Remedies) > before {
			break
		}
		s.subject.loosen, s.subject.untried = true, s.cut
	}
	if s.cut {
		s.found.Notes = append(s.found.Notes, leftOut)
	}
	return nil
}

// best is how many tasks are placed by the change that is proven to place the most.
func (s *search) best() int {
	most := 0
	for _, r := range s.found.Remedies {
		most = max(most, r.Places)
	}
	return most
}

func (s *search) single(ctx context.Context) error {
	enough := map[string]bool{}
	for _, p := range s.subject.singles() {
		if enough[p.instead] {
			continue
		}
		r, err := s.prove(ctx, p)
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		s.keep(*r)
		s.notePart([]proposal{p}, r.Places)
		if p.instead != "" {
			enough[p.instead] = true
		}
	}
	return nil
}

// prove returns the remedy that a proposal is; nil where the scheduler shows that it is none: it places nothing, or for what
// it places as many tasks of the service lose their place.
func (s *search) prove(ctx context.Context, p proposal) (*analyzer.Remedy, error) {
	p = s.subject.withBegin(p)
	key := p.key()
	if known, is := s.tried[key]; is {
		return known, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := s.trial.prove(ctx, p)
	if err != nil {
		return nil, err
	}
	s.tried[key] = nil
	if p.change == nil || r.Verified && r.Places > 0 {
		s.tried[key] = &r
	}
	return s.tried[key], nil
}

// sets tries the changes together that open a node with two or three reasons. Two alternatives are kept where none is known; else,
// and after these, what places more than all that was found before.
func (s *search) sets(ctx context.Context) error {
	alternatives := 0
	if s.best() > 0 {
		alternatives = enough
	}
	sets, more := s.subject.sets()
	for i, tried := 0, 0; i < len(sets); i++ {
		than := 0
		if alternatives >= enough {
			than = s.best()
			if than >= s.subject.tasks() {
				return nil
			}
			if tried++; tried > further {
				more = true
				break
			}
		}
		found, err := s.keepMinimal(ctx, sets[i], than)
		if err != nil {
			return err
		}
		if found {
			alternatives++
		}
	}
	s.cut = s.cut || more
	return nil
}

// keepMinimal keeps what a set comes to that places more than so many tasks: all, where the whole set does.
func (s *search) keepMinimal(ctx context.Context, set []proposal, than int) (kept bool, err error) {
	whole, err := s.prove(ctx, combine(set))
	if err != nil || whole == nil {
		return false, err
	}
	if all := s.subject.tasks(); whole.Places >= all {
		than = max(than, all-1)
	}
	r, members, err := s.minimal(ctx, set, than)
	if err != nil || r == nil || !s.keep(*r) {
		return false, err
	}
	s.notePart(members, r.Places)
	return true, nil
}

// keep adds a remedy that was found, once.
func (s *search) keep(r analyzer.Remedy) (added bool) {
	same := func(other analyzer.Remedy) bool { return other.Command == r.Command && other.At == r.At }
	if slices.ContainsFunc(s.found.Remedies, same) {
		return false
	}
	s.found.Remedies = append(s.found.Remedies, r)
	return true
}

// sets are those changes that together leave a node no reason to refuse, and that a copy can show to work: first with
// amounts that suit as many of the nodes with the same reasons as can be, then with those that suit this one. There may be more
// where not all groups and nodes were looked at, or where it takes more changes than are made together.
func (s *subject) sets() (all [][]proposal, more bool) {
	tried := 0
	for _, g := range s.groups { // those with the fewest reasons come first
		if len(g.reasons) < 2 {
			continue
		}
		if len(g.reasons) > largestSet {
			if more = more || s.mends(g); more {
				break
			}
			continue
		}
		if tried == promising {
			return all, true
		}
		tried++
		more = more || len(g.rows) > promising
		for _, row := range g.rows[:min(len(g.rows), promising)] {
			one := g.only(row)
			all = append(all, s.product(one, g)...)
			all = append(all, s.product(one, one)...)
		}
	}
	return all, more
}

// mends tells whether there is a change against each reason of a group that a copy can show to work.
func (s *subject) mends(g *group) bool {
	return !slices.ContainsFunc(g.reasons, func(r filters.Reason) bool {
		return !slices.ContainsFunc(s.fixes(g, r), func(p proposal) bool { return p.change != nil })
	})
}

// product combines the changes against each reason of a group; amounts are to suit another one.
func (s *subject) product(g, amounts *group) [][]proposal {
	sets := [][]proposal{nil}
	for _, reason := range g.reasons {
		at := g
		if reason.Filter == filters.Resources || reason.Filter == filters.MaxReplicas {
			at = amounts
		}
		var longer [][]proposal
		for _, p := range s.fixes(at, reason) {
			if p.change == nil {
				continue
			}
			for _, set := range sets {
				longer = append(longer, append(slices.Clone(set), p))
			}
		}
		sets = longer
	}
	return sets
}

// minimal returns the remedy that a set is with all its members left out that it does not need to place more than so many
// tasks, and the members that are left; nil where it does not.
func (s *search) minimal(ctx context.Context, set []proposal, than int) (*analyzer.Remedy, []proposal, error) {
	whole, err := s.prove(ctx, combine(set))
	if err != nil || whole == nil || whole.Places <= than {
		return nil, nil, err
	}
	if len(set) == 1 {
		return whole, set, nil
	}
	for i := range set {
		less, members, err := s.minimal(ctx, slices.Delete(slices.Clone(set), i, i+1), than)
		if err != nil || less != nil {
			return less, members, err
		}
	}
	return whole, set, nil
}
