package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// remedyTime bounds an agent's search for the remedies of one diagnosis.
	remedyTime = 5 * time.Second
	// remedyPause is the least time between two searches for the same diagnosis, as long as nothing but what is free on the
	// nodes changes. It is remedyShare times as long as one search for everything took, so that searching costs little of a core.
	remedyPause = 30 * time.Second
	remedyShare = 100
)

// cutShort is told with a diagnosis whose remedies were not searched for to the end.
const cutShort = "remedies: the time was up before everything was tried, so there may be more (--remedy-time)"

// addRemedies looks for the remedies of each diagnosis in turn. Those that the time was too short for say so.
func addRemedies(ctx context.Context, state *collector.State, diagnoses []analyzer.Diagnosis, within time.Duration) error {
	if within == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for i := range diagnoses {
		found, err := findRemedies(ctx, state, &diagnoses[i])
		if err != nil {
			return err
		}
		found.addTo(&diagnoses[i])
	}
	return nil
}

// searched is what a search for the remedies of one diagnosis came to.
type searched struct {
	remedies []analyzer.Remedy // nil where the time was up before any was found
	ended    bool
}

// findRemedies searches. What goes wrong inside is an error, and ends neither an agent nor an answer.
func findRemedies(ctx context.Context, state *collector.State, d *analyzer.Diagnosis) (s searched, err error) {
	defer func() {
		if wrong := recover(); wrong != nil {
			err = fmt.Errorf("find remedies for %s of %s: %v (please report this)\n%s", d.Cause, d.Service, wrong, debug.Stack())
		}
	}()
	found, err := remedy.Find(ctx, state, d)
	if err != nil {
		return searched{}, err
	}
	s = searched{found.Remedies, found.Ended}
	if s.ended && len(s.remedies) == 0 {
		s.remedies = nil
	}
	return s, nil
}

func (s searched) addTo(d *analyzer.Diagnosis) {
	d.Remedies = s.remedies
	if s.ended {
		d.Blind = append(slices.Clone(d.Blind), cutShort)
	}
}

// remedies finds those of the speaking agent's diagnoses in the background.
type remedies struct {
	log  *logrus.Entry
	wake chan struct{}

	mu    sync.Mutex // protects what follows
	state *collector.State
	open  []analyzer.Diagnosis
	known map[string]knownRemedies // by the diagnosis's id
}

// knownRemedies are good for one matter, and of the state that they were found in.
type knownRemedies struct {
	searched
	matter uint64
	state  *collector.State
	at     time.Time
	took   time.Duration
}

func newRemedies(log *logrus.Entry) *remedies {
	return &remedies{log: log, wake: make(chan struct{}, 1), known: map[string]knownRemedies{}}
}

// want tells what is open now, and forgets the rest.
func (r *remedies) want(state *collector.State, diagnoses []analyzer.Diagnosis) {
	r.mu.Lock()
	r.state, r.open = state, diagnoses
	open := map[string]uint64{}
	for i := range diagnoses {
		open[diagnoses[i].ID] = matterOf(&diagnoses[i])
	}
	maps.DeleteFunc(r.known, func(id string, known knownRemedies) bool {
		matter, is := open[id]
		return !is || matter != known.matter
	})
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// add gives diagnoses the remedies that are known by now. The diagnoses are changed.
func (r *remedies) add(diagnoses []analyzer.Diagnosis) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range diagnoses {
		if known, is := r.known[diagnoses[i].ID]; is {
			known.addTo(&diagnoses[i])
		}
	}
}

// run finds what is wanted until ctx ends.
func (r *remedies) run(ctx context.Context) {
	timer := time.NewTicker(remedyPause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
		for state, d := r.next(); d != nil && ctx.Err() == nil; state, d = r.next() {
			r.find(ctx, state, d)
		}
	}
}

// next returns a diagnosis whose remedies are not known, or were found in another state and long enough ago; nil where
// there is none.
func (r *remedies) next() (*collector.State, *analyzer.Diagnosis) {
	r.mu.Lock()
	defer r.mu.Unlock()
	took := time.Duration(0)
	for _, known := range r.known {
		took += known.took
	}
	pause := max(remedyPause, remedyShare*took)
	for i := range r.open {
		d := &r.open[i]
		known, is := r.known[d.ID]
		if !is || known.state != r.state && time.Since(known.at) > pause {
			return r.state, d
		}
	}
	return nil, nil
}

func (r *remedies) find(ctx context.Context, state *collector.State, d *analyzer.Diagnosis) {
	ctx, cancel := context.WithTimeout(ctx, remedyTime)
	defer cancel()
	began := time.Now()
	found, err := findRemedies(ctx, state, d)
	switch {
	case errors.Is(err, context.Canceled):
		return
	case err != nil: // the next try is after the pause
		r.log.WithError(err).WithField("service.name", d.Service).Warn("remedies not found")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[d.ID] = knownRemedies{searched: found, matter: matterOf(d), state: state, at: time.Now(), took: time.Since(began)}
}

// matterOf is the same for two diagnoses of the same tasks, while as many others run, that the same nodes refuse by the same
// filters.
func matterOf(d *analyzer.Diagnosis) uint64 {
	sum := fnv.New64a()
	for _, w := range d.Waiting {
		fmt.Fprint(sum, d.Cause, d.Shape, d.Running, w.Task().SpecVersion)
		for _, t := range w.Tasks {
			sum.Write([]byte(t.ID))
		}
		if w.Service != nil {
			fmt.Fprint(sum, w.Service.SpecVersion, w.Service.Meta.Version)
		}
		for _, row := range w.Rows {
			sum.Write([]byte(row.Node.ID))
			for _, verdict := range row.Verdicts {
				sum.Write([]byte{byte(verdict)})
			}
		}
	}
	return sum.Sum64()
}
