package remedy

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Found is what a search for remedies came to.
type Found struct {
	// Remedies are in the order to try them: those that are proven first, of these the ones that disturb less. Empty, and
	// not nil, where there is none.
	Remedies []analyzer.Remedy
	// Ended tells that the time was up before everything had been tried: there may be more.
	Ended bool
	// Notes are sentences on what was looked for and not found.
	Notes []string
}

// proposer offers changes that take one reason away from the nodes of a group.
type proposer func(*subject, *group, filters.Reason) []proposal

var proposers = map[filters.Name]proposer{}

// propose says which changes help against a filter. It is called by the initialiser of a variable.
func propose(filter filters.Name, p proposer) bool {
	proposers[filter] = p
	return true
}

// Find looks for changes that place what a diagnosis is about, and proves them on swarmkit's scheduler. Where no single
// change places all of it, it tries two and three together, until the deadline of ctx: then it returns what it found so far.
// An error means that ctx was cancelled or the state could not be copied.
func Find(ctx context.Context, state *collector.State, d *analyzer.Diagnosis) (Found, error) {
	s := &search{found: Found{Remedies: []analyzer.Remedy{}}}
	if len(d.Waiting) == 0 {
		return s.found, nil
	}
	s.trial, s.tried = newTrial(state, d), map[string]*analyzer.Remedy{}
	s.subject = newSubject(state, s.trial.cluster, d)
	err := s.run(ctx)
	if err == nil {
		err = s.noMove(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.found.Ended, err = true, nil
	}
	if err != nil {
		return Found{}, fmt.Errorf("find remedies for %s of %s: %w", d.Cause, d.Subject.Name, err)
	}
	if d.Confidence != analyzer.Certain {
		for i := range s.found.Remedies {
			r := &s.found.Remedies[i]
			r.Note = join("check first: the cause is "+string(d.Confidence)+", not certain", r.Note)
		}
	}
	order(s.found.Remedies)
	return s.found, nil
}

// fixes are the proposals against one reason.
func (s *subject) fixes(g *group, r filters.Reason) []proposal {
	if p := proposers[r.Filter]; p != nil {
		return p(s, g, r)
	}
	return nil
}

// singles are the changes that may do alone: those against the only reason of a group, and those that are no answer to a
// single reason. What no copy can show is told where it may be one of several things to do.
func (s *subject) singles() []proposal {
	if len(s.groups) > 0 && len(s.groups[0].reasons) == 0 || s.stale {
		return s.retry()
	}
	var all []proposal
	for _, g := range s.groups {
		if len(g.reasons) == 1 {
			all = append(all, s.fixes(g, g.reasons[0])...)
		}
	}
	if s.former {
		all = append(append(all, s.force()...), s.atOnce()...)
	}
	all = append(all, s.stopFirst()...)
	all = append(all, s.moves()...)
	all = append(all, s.elsewhere()...)
	if len(s.groups) > 0 && len(s.groups[0].reasons) > 1 {
		for _, r := range s.groups[0].reasons {
			for _, p := range s.fixes(s.groups[0], r) {
				if p.change == nil {
					p.note = join(p.note, "it does not do alone")
					all = append(all, p)
				}
			}
		}
	}
	return all
}
