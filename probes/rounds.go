package probes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// readTime is how long one probe may take to read. What can hang longer is done in the probe's own goroutine.
const readTime = 10 * time.Second

// Rounds reads probes, each at its own pace, and publishes reports.
type Rounds struct {
	base   Report
	now    func() time.Time
	log    *logrus.Entry
	opened []*opened

	mu      sync.Mutex // protects what follows
	last    *Report
	changed chan struct{}
	round   bool
}

// opened is one probe, open or not.
type opened struct {
	probe   Probe
	reader  Reader
	failure string // why it is not open, or what went wrong with the last reading
	due     time.Time
	called  bool // news call for the next reading
	news    chan struct{}
}

// OpenAll opens probes in order; one that cannot be opened is told in the log and in the report. Base holds what is the same
// in all reports.
func OpenAll(ctx context.Context, host Host, base Report, all []Probe) *Rounds {
	r := &Rounds{base: base, now: host.Now, log: host.Log, changed: make(chan struct{})}
	for _, probe := range all {
		o := &opened{probe: probe, news: make(chan struct{}, 1)}
		own := host
		own.Log = host.Log.WithField("probe", probe.Name)
		own.News = func() {
			select {
			case o.news <- struct{}{}:
			default:
			}
		}
		reader, err := probe.Open(ctx, own)
		if err != nil {
			o.failure = err.Error()
			own.Log.WithField("reason", o.failure).Warn("probe does not run")
		}
		o.reader = reader
		r.opened = append(r.opened, o)
	}
	return r
}

// Last returns the last report; false before the first round ended.
func (r *Rounds) Last() (*Report, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.round
}

// Changed returns a channel that is closed when there is a newer report.
func (r *Rounds) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// Run reads until ctx ends, and closes the probes then.
func (r *Rounds) Run(ctx context.Context) {
	defer r.close()
	news, stop := r.gather(ctx)
	defer stop()
	for {
		r.read(ctx)
		timer := time.NewTimer(time.Until(r.next()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case o := <-news:
			o.due, o.called = time.Time{}, true
		case <-timer.C:
		}
		timer.Stop()
	}
}

// gather brings the news of all probes into one channel.
func (r *Rounds) gather(ctx context.Context) (<-chan *opened, func()) {
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	news := make(chan *opened)
	for _, o := range r.opened {
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-o.news:
				}
				select {
				case <-ctx.Done():
					return
				case news <- o:
				}
			}
		})
	}
	return news, func() { cancel(); running.Wait() }
}

func (r *Rounds) next() time.Time {
	next := r.now().Add(time.Minute)
	for _, o := range r.opened {
		if o.reader != nil && o.due.Before(next) {
			next = o.due
		}
	}
	return next
}

// read reads the probes that are due, and publishes what they found.
func (r *Rounds) read(ctx context.Context) {
	report := r.base
	if last, ok := r.Last(); ok {
		report = *last
	}
	report.Abilities = nil
	called := report.Revision == 0
	for _, o := range r.opened {
		called = called || o.called
		o.called = false
		if o.reader != nil && !o.due.After(r.now()) {
			r.readOne(ctx, o, &report)
		}
		report.Abilities = append(report.Abilities, o.abilities()...)
	}
	if ctx.Err() != nil {
		return
	}
	report.At = r.now()
	if called {
		report.Revision++
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.round = &report, true
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Rounds) readOne(ctx context.Context, o *opened, report *Report) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	before := o.failure
	o.failure = ""
	if err := o.reader.Read(ctx, report); err != nil {
		o.failure = err.Error()
	}
	o.due = r.now().Add(o.probe.Every)
	if o.failure != before && o.failure != "" && ctx.Err() == nil {
		r.log.WithFields(logrus.Fields{"probe": o.probe.Name, "reason": o.failure}).Warn("probe could not read")
	}
}

// abilities are those of the probe; one that is not open has none.
func (o *opened) abilities() []Ability {
	whole := Ability{Probe: o.probe.Name, Name: o.probe.Name, Has: o.failure == "", Sees: o.probe.Doc, Lacks: o.failure}
	if o.reader == nil {
		return []Ability{whole}
	}
	abilities := slices.Clone(o.reader.Abilities())
	if len(abilities) == 0 || o.failure != "" {
		abilities = append(abilities, whole)
	}
	return abilities
}

func (r *Rounds) close() {
	for _, o := range slices.Backward(r.opened) {
		if o.reader == nil {
			continue
		}
		if err := o.reader.Close(); err != nil {
			r.log.WithFields(logrus.Fields{"probe": o.probe.Name, "reason": fmt.Sprint(err)}).Warn("close probe")
		}
	}
}
