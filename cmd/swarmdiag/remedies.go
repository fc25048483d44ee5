package main

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
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
	// remedyPause is the least time between two searches for the same diagnosis. After each that repeats another one, none
	// repeats for remedyShare times as long as it took, so that searching costs little of a core, and none for sameShare times
	// as long where the same nodes refuse by the same filters.
	remedyPause            = 30 * time.Second
	remedyShare, sameShare = 500, 2000
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
	notes    []string
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
	s = searched{found.Remedies, found.Ended, found.Notes}
	if s.ended && len(s.remedies) == 0 {
		s.remedies = nil
	}
	return s, nil
}

func (s searched) addTo(d *analyzer.Diagnosis) {
	d.Remedies, d.RemedyNotes = s.remedies, s.notes
	if s.ended {
		d.Blind = append(slices.Clone(d.Blind), cutShort)
	}
}

// olderThan is told with a diagnosis whose remedies were found before verdicts of nodes changed.
const olderThan = "remedies: found at %s, before the verdicts of some nodes changed"

// remedies finds those of the speaking agent's diagnoses in the background.
type remedies struct {
	log  *logrus.Entry
	wake chan struct{}

	mu     sync.Mutex // protects what follows
	state  *collector.State
	number uint64 // of the state: how many there were
	open   []analyzer.Diagnosis
	known  map[string]*knownRemedies // by the diagnosis's id
	ended  time.Time                 // when the last search that repeated one did, and how long it took
	took   time.Duration
}

// knownRemedies are good for one fault. They were found where the matrix was this, in the state of that number.
type knownRemedies struct {
	searched
	fault, matrix uint64
	number        uint64
	at            time.Time
	isOld         bool // the matrix is another one now
}

func newRemedies(log *logrus.Entry) *remedies {
	return &remedies{log: log, wake: make(chan struct{}, 1), known: map[string]*knownRemedies{}}
}

// want tells what is open now, and forgets the rest.
func (r *remedies) want(state *collector.State, diagnoses []analyzer.Diagnosis) {
	r.mu.Lock()
	if r.state != state {
		r.state = state
		r.number++
	}
	r.open = diagnoses
	open := make(map[string]*analyzer.Diagnosis, len(diagnoses))
	for i := range diagnoses {
		open[diagnoses[i].ID] = &diagnoses[i]
	}
	maps.DeleteFunc(r.known, func(id string, known *knownRemedies) bool {
		d := open[id]
		if d == nil || known.fault != faultOf(d) {
			return true
		}
		known.isOld = known.matrix != matrixOf(d)
		return false
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
		known, is := r.known[diagnoses[i].ID]
		if !is {
			continue
		}
		known.addTo(&diagnoses[i])
		if known.isOld {
			diagnoses[i].Blind = append(slices.Clone(diagnoses[i].Blind), fmt.Sprintf(olderThan, known.at.UTC().Format(time.RFC3339)))
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
		for state, d := r.next(time.Now()); d != nil && ctx.Err() == nil; state, d = r.next(time.Now()) {
			r.find(ctx, state, d)
		}
	}
}

// next returns a diagnosis whose remedies are not known; else, once it is time for that, of those found in another state the one
// that was searched for the longest ago, of those first whose matrix is another one now; nil where there is none.
func (r *remedies) next(now time.Time) (*collector.State, *analyzer.Diagnosis) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.open {
		if r.known[r.open[i].ID] == nil {
			return r.state, &r.open[i]
		}
	}
	var repeat *analyzer.Diagnosis
	for i := range r.open {
		d := &r.open[i]
		known := r.known[d.ID]
		if known.number == r.number || now.Sub(known.at) < remedyPause || now.Sub(r.ended) < known.share()*r.took {
			continue
		}
		if repeat == nil || known.isBefore(r.known[repeat.ID]) {
			repeat = d
		}
	}
	return r.state, repeat
}

// share is how many times as long as the last search took they are not searched for again.
func (k *knownRemedies) share() time.Duration {
	if k.isOld {
		return remedyShare
	}
	return sameShare
}

func (k *knownRemedies) isBefore(other *knownRemedies) bool {
	if k.isOld != other.isOld {
		return k.isOld
	}
	return k.at.Before(other.at)
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
	now := time.Now()
	if r.known[d.ID] != nil {
		r.ended, r.took = now, now.Sub(began)
	}
	r.known[d.ID] = &knownRemedies{searched: found, fault: faultOf(d), matrix: matrixOf(d), number: r.numberOf(state), at: now}
}

// numberOf is the number of a state; of one that is not the latest any more, none.
func (r *remedies) numberOf(state *collector.State) uint64 {
	if r.state != state {
		return 0
	}
	return r.number
}

var seed = maphash.MakeSeed()

// faultOf is the same for two diagnoses of the same tasks and specs, while as many others run.
func faultOf(d *analyzer.Diagnosis) uint64 {
	var sum maphash.Hash
	sum.SetSeed(seed)
	maphash.WriteComparable(&sum, [3]any{d.Cause, d.Shape, d.Running})
	for _, w := range d.Waiting {
		for _, t := range w.Tasks {
			sum.WriteString(t.ID)
		}
		if v := w.Task().SpecVersion; v != nil {
			maphash.WriteComparable(&sum, v.Index)
		}
		if w.Service != nil {
			maphash.WriteComparable(&sum, w.Service.Meta.Version.Index)
		}
	}
	return sum.Sum64()
}

// matrixOf is the same for two diagnoses whose tasks the same nodes refuse by the same filters.
func matrixOf(d *analyzer.Diagnosis) uint64 {
	var sum maphash.Hash
	sum.SetSeed(seed)
	for _, w := range d.Waiting {
		for _, row := range w.Rows {
			sum.WriteString(row.Node.ID)
			maphash.WriteComparable(&sum, row.Verdicts)
		}
	}
	return sum.Sum64()
}
