package remedy

import (
	"context"
	"fmt"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// proposer offers changes for one cause, as far as the diagnosis proves them worth a try.
type proposer func(*subject) []Proposal

// subject is what proposals are made for: the diagnosis, and the matrix behind it.
type subject struct {
	*analyzer.Diagnosis
	// w is what the matrix says of the node that comes closest.
	w *analyzer.Waiting
}

var proposers = map[string]proposer{}

// propose says which changes help against a cause. It is called by the initialiser of a variable.
func propose(cause string, p proposer) bool {
	proposers[cause] = p
	return true
}

// Find returns the remedies of a diagnosis, proven on swarmkit's scheduler where that can be, in the order to try them.
// It is empty, and not nil, where there is none. An error means that ctx ended or the state could not be copied.
func Find(ctx context.Context, state *collector.State, d *analyzer.Diagnosis) ([]analyzer.Remedy, error) {
	remedies := []analyzer.Remedy{}
	p := proposers[d.Cause]
	if p == nil || len(d.Waiting) == 0 {
		return remedies, nil
	}
	t := newTrial(state, d)
	for _, proposal := range p(&subject{d, d.Waiting[0]}) {
		r, err := t.prove(ctx, proposal)
		if err != nil {
			return nil, fmt.Errorf("try %q: %w", proposal.Command, err)
		}
		if d.Confidence != analyzer.Certain {
			r.Note = join("check first: "+string(d.Confidence)+", not certain", r.Note)
		}
		remedies = append(remedies, r)
	}
	order(remedies)
	return remedies, nil
}
