package capacity

import (
	"context"
	"fmt"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Report is what is stuck in all, what would place it, and what still fits.
type Report struct {
	Ranking
	// Needed is how many more nodes of each kind would place what is stuck, Headroom how many more replicas of each
	// replicated service fit now.
	Needed   []Need     `json:"nodes_needed"`
	Headroom []Headroom `json:"headroom"`
	// Bounded says what the time ended besides the ranking, a sentence each.
	Bounded []string `json:"bounded,omitempty"`
}

// Measure finds how many more nodes are needed and how many more replicas fit, without proving each of the latter. The
// diagnoses are those of the state. An error means that ctx was cancelled or the state could not be copied.
func Measure(ctx context.Context, state *collector.State, diagnoses []analyzer.Diagnosis) (Report, error) {
	return newStuck(state, diagnoses).measure(ctx)
}

func (s *stuck) measure(ctx context.Context) (Report, error) {
	report := Report{Ranking: s.unranked(), Needed: []Need{}, Headroom: []Headroom{}}
	if err := report.headroom(ctx, s.state); err != nil {
		return Report{}, fmt.Errorf("measure headroom: %w", err)
	}
	before, err := s.unchanged(ctx)
	if err == nil {
		err = report.needed(ctx, s, before)
	}
	if outOfTime(err) {
		report.bound("the time was up before the nodes that are needed could be counted")
		err = nil
	}
	if err != nil {
		return Report{}, fmt.Errorf("measure capacity: %w", err)
	}
	return report, nil
}

// Look does all that Measure does, ranks what would help most, and proves every headroom on the scheduler as far as the
// time allows.
func Look(ctx context.Context, state *collector.State, diagnoses []analyzer.Diagnosis) (Report, error) {
	s := newStuck(state, diagnoses)
	report, err := s.measure(ctx)
	if err != nil {
		return Report{}, err
	}
	if report.Ranking, err = s.rank(ctx); err != nil {
		return Report{}, err
	}
	ended, err := Prove(ctx, state, report.Headroom)
	if err != nil {
		return Report{}, err
	}
	if ended {
		report.bound("the time was up before all headroom was proven: the rest is counted")
	}
	return report, nil
}

func (r *Report) headroom(ctx context.Context, state *collector.State) error {
	all, ended, err := Headrooms(ctx, state)
	r.Headroom = append(r.Headroom, all...)
	if ended {
		r.bound("the time was up before the headroom of all services was counted")
	}
	return err
}

func (r *Report) needed(ctx context.Context, s *stuck, before placed) error {
	all, ended, err := s.needs(ctx, before)
	r.Needed = append(r.Needed, all...)
	if ended {
		r.bound("the time was up before all kinds of nodes were looked at")
	}
	return err
}

func (r *Report) bound(sentence string) { r.Bounded = append(r.Bounded, sentence) }
