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

// search tries proposals, and keeps what works.
type search struct {
	subject *subject
	trial   *trial
	found   Found
	tried   map[string]*analyzer.Remedy // by command; nil where it does not help
	parts   []part
}

func (s *search) run(ctx context.Context) error {
	for range 2 { // the second time without the constraints that cannot be kept
		before := len(s.found.Remedies)
		if err := s.single(ctx); err != nil || s.best() >= s.subject.tasks() {
			return err
		}
		sets := s.sets
		if s.best() > 0 {
			sets = s.together
		}
		if err := sets(ctx); err != nil || len(s.found.Remedies) > before {
			return err
		}
		s.subject.loosen = true
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
		s.notePart(p, r.Places)
		if p.instead != "" {
			enough[p.instead] = true
		}
	}
	return nil
}

// prove returns the remedy that a proposal is; nil where the scheduler shows that it is none.
func (s *search) prove(ctx context.Context, p proposal) (*analyzer.Remedy, error) {
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
	if p.change == nil || r.Verified {
		s.tried[key] = &r
	}
	return s.tried[key], nil
}

// sets tries two and three changes together.
func (s *search) sets(ctx context.Context) error {
	kept := 0
	for _, set := range s.subject.sets() {
		r, err := s.minimal(ctx, set, 0)
		if err != nil {
			return err
		}
		if r != nil && s.keep(*r) {
			kept++
		}
		if kept == enough {
			return nil
		}
	}
	return nil
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
// amounts that suit as many of the nodes with the same reasons as can be, then with those that suit this one.
func (s *subject) sets() [][]proposal {
	var all [][]proposal
	tried := 0
	for _, g := range s.groups {
		if len(g.reasons) < 2 || len(g.reasons) > largestSet || tried == promising {
			continue
		}
		tried++
		for _, row := range g.rows[:min(len(g.rows), promising)] {
			one := g.only(row)
			all = append(all, s.product(one, g)...)
			all = append(all, s.product(one, one)...)
		}
	}
	return all
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
// tasks; nil where it does not.
func (s *search) minimal(ctx context.Context, set []proposal, than int) (*analyzer.Remedy, error) {
	whole, err := s.prove(ctx, combine(set))
	if err != nil || whole == nil || whole.Places <= than {
		return nil, err
	}
	if len(set) == 1 {
		return whole, nil
	}
	for i := range set {
		less, err := s.minimal(ctx, slices.Delete(slices.Clone(set), i, i+1), than)
		if err != nil || less != nil {
			return less, err
		}
	}
	return whole, nil
}
