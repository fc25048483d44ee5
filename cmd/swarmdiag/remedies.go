package main

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// remedyTime bounds the search for the remedies of one diagnosis.
	remedyTime = 5 * time.Second
	// remedyPause is how long what was found holds where the nodes change all the time.
	remedyPause = 30 * time.Second
)

// addRemedies looks for the remedies of each diagnosis in turn, and leaves out those that the time was too short for.
func addRemedies(ctx context.Context, state *collector.State, diagnoses []analyzer.Diagnosis, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for i := range diagnoses {
		found, err := remedy.Find(ctx, state, &diagnoses[i])
		if err != nil {
			return err
		}
		if found.Ended && len(found.Remedies) == 0 {
			return nil
		}
		diagnoses[i].Remedies = found.Remedies
	}
	return nil
}

// remedies finds those of an agent's diagnoses in the background, and keeps them until what they hang on changes.
type remedies struct {
	log  *logrus.Entry
	wake chan struct{}

	mu    sync.Mutex // protects what follows
	state *collector.State
	open  []analyzer.Diagnosis
	known map[string]foundRemedies // by the diagnosis's id
}

type foundRemedies struct {
	remedies []analyzer.Remedy
	matrix   *filters.Row
	at       time.Time
}

func newRemedies(log *logrus.Entry) *remedies {
	return &remedies{log: log, wake: make(chan struct{}, 1), known: map[string]foundRemedies{}}
}

// want tells what is open now, and forgets the rest.
func (r *remedies) want(state *collector.State, result analyzer.Result) {
	r.mu.Lock()
	r.state, r.open = state, result.Diagnoses
	open := map[string]bool{}
	for _, d := range r.open {
		open[d.ID] = true
	}
	maps.DeleteFunc(r.known, func(id string, _ foundRemedies) bool { return !open[id] })
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
			diagnoses[i].Remedies = known.remedies
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

// next returns a diagnosis whose remedies are not known, or hang on nodes that have changed since; nil where there is none.
func (r *remedies) next() (*collector.State, *analyzer.Diagnosis) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.open {
		d := &r.open[i]
		known, is := r.known[d.ID]
		if !is || known.matrix != matrixOf(d) && time.Since(known.at) > remedyPause {
			return r.state, d
		}
	}
	return nil, nil
}

func (r *remedies) find(ctx context.Context, state *collector.State, d *analyzer.Diagnosis) {
	ctx, cancel := context.WithTimeout(ctx, remedyTime)
	defer cancel()
	found, err := remedy.Find(ctx, state, d)
	switch {
	case errors.Is(err, context.Canceled):
		return
	case err != nil: // the next try is after the pause
		r.log.WithError(err).WithField("service.name", d.Service).Warn("remedies not found")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[d.ID] = foundRemedies{remedies: found.Remedies, matrix: matrixOf(d), at: time.Now()}
}

// matrixOf is the same for two diagnoses with the same matrix, of which the engine keeps one copy.
func matrixOf(d *analyzer.Diagnosis) *filters.Row {
	if len(d.Waiting) == 0 || len(d.Waiting[0].Rows) == 0 {
		return nil
	}
	return &d.Waiting[0].Rows[0]
}
