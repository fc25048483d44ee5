package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/peers"
	"github.com/swarmdiag/swarmdiag/exporter"
)

const (
	// lookPause is the least time between two looks. A change waits for lookShare times as long as the look before took, so that
	// looking costs little of a core in a large cluster, too, and for lookPauseMost at most; a threshold that passes does not.
	lookPause, lookPauseMost = 200 * time.Millisecond, 10 * time.Second
	lookShare                = 250
	// lookAtLeast is how often the daemon looks where nothing changes, which also proves that it is alive.
	lookAtLeast = 10 * time.Second
	// staleAfter is how old a state may be that the daemon speaks from, or three polls where these are rarer; deadAfter is
	// how long a look may take.
	staleAfter, deadAfter = 30 * time.Second, time.Minute
)

// daemon is the agent at work.
type daemon struct {
	options *agentOptions
	log     *logrus.Entry
	events  *exporter.Log
	store   *collector.Store
	metrics *exporter.Metrics
	speaker *peers.Speaker
	place   *place

	remedies *remedies
	measurer *measurer

	engine *analyzer.Engine // of the loop alone
	record *exporter.Record // of the loop alone
	spoke  bool             // of the loop alone: the last look spoke
	heard  bool             // of the loop alone: another agent spoke since this one started

	mu        sync.Mutex // protects all following fields
	result    analyzer.Result
	looked    time.Time
	connected bool
	failure   error
	serving   string
}

func newDaemon(options *agentOptions, events *exporter.Log, log *logrus.Entry) *daemon {
	d := &daemon{
		options: options, log: log, events: events, store: collector.NewStore(),
		record: exporter.NewRecord(analyzer.ChangeOf), looked: time.Now(),
		engine: analyzer.NewEngine(options.patience), remedies: newRemedies(log),
	}
	d.metrics = exporter.NewMetrics(version, revision, d.store.Snapshot, time.Now)
	d.measurer = &measurer{log: log, tell: d.metrics.Capacity}
	return d
}

// run works until ctx ends.
func (d *daemon) run(ctx context.Context) error {
	listener, err := listen(ctx, d.options.listen)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listener.Addr(), err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listener.Addr(), err)
	}
	d.mu.Lock()
	d.serving = listener.Addr().String()
	d.mu.Unlock()
	if d.place, err = newPlace(d.options.node, d.options.source.engine, uint16(number), d.log); err != nil {
		return err
	}
	d.speaker = peers.NewSpeaker(peers.Options{
		Self:     d.standing,
		Managers: func() []peers.Agent { return d.place.agents(d.store.Snapshot(), true) },
		Workers:  func() []peers.Agent { return d.place.agents(d.store.Snapshot(), false) },
		Client:   peers.NewClient(), Now: time.Now, Log: d.log,
	})
	d.log.WithFields(logrus.Fields{"version": version, "listen": listener.Addr().String()}).Info("agent starts")

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return exporter.Serve(ctx, listener, d.handler(), d.log) })
	group.Go(func() error {
		collector.Keep(ctx, &d.options.source, d.store, d.log, d.connection)
		return nil
	})
	group.Go(func() error { d.speaker.Run(ctx); return nil })
	group.Go(func() error { d.place.keep(ctx, d.missingSpeaker); return nil })
	group.Go(func() error { d.remedies.run(ctx); return nil })
	group.Go(func() error { d.measurer.run(ctx); return nil })
	group.Go(func() error { return d.loop(ctx) })
	return group.Wait()
}

func (d *daemon) handler() http.Handler {
	return exporter.NewHandler(exporter.HandlerOptions{
		Metrics: d.metrics.Handler(), Healthy: d.healthy, Standing: d.speaker.Standing, SpeakerAddr: d.speaker.Addr,
		Result: d.lastResult, Token: d.options.token, Open: d.options.open, Log: d.log,
	})
}

// connection hears whether the source answers.
func (d *daemon) connection(connected bool, failure error) {
	d.mu.Lock()
	d.connected, d.failure = connected, failure
	d.mu.Unlock()
	d.metrics.Source(d.options.source.Name(), connected)
	d.speaker.Nudge()
}

// standing is what this agent is now.
func (d *daemon) standing() peers.Standing {
	state := d.store.Snapshot()
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := d.connected && time.Since(state.AsOf) < max(staleAfter, 3*state.Every)
	standing := peers.StandingOf(state, d.place.id(), fresh)
	switch {
	case fresh:
		standing.Ready, standing.Reason = true, "follows the cluster by "+d.options.source.Name()
	case d.options.source.worker.Load():
		standing.Ready, standing.Reason = true, "this node is a worker: the agents on managers follow the cluster"
	case d.failure != nil:
		standing.Reason = d.failure.Error()
	default:
		standing.Reason = "has not read the cluster's state yet"
	}
	return standing
}

func (d *daemon) healthy() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if age := time.Since(d.looked); age > deadAfter {
		return fmt.Errorf("the agent has not looked at the cluster for %s", age.Round(time.Second))
	}
	return nil
}

// address is where the agent serves; empty before it does.
func (d *daemon) address() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.serving
}

func (d *daemon) lastResult() (analyzer.Result, bool) {
	d.mu.Lock()
	result := d.result
	d.mu.Unlock()
	result.Diagnoses, result.Incidents = slices.Clone(result.Diagnoses), slices.Clone(result.Incidents)
	d.remedies.add(result.Diagnoses)
	result.ShareRemedies()
	return result, result.Cluster.Nodes > 0
}

// loop looks at the state whenever it changes, when a threshold passes, and when this agent begins or ends to speak.
func (d *daemon) loop(ctx context.Context) error {
	for {
		changed, elected := d.store.Changed(), d.speaker.Changed()
		began := time.Now()
		next, err := d.look(began)
		if err != nil {
			return err
		}
		took := time.Since(began)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookPause):
		}
		due, rested := time.NewTimer(time.Until(next)), time.NewTimer(min(lookShare*took, lookPauseMost)-lookPause)
		select {
		case <-ctx.Done():
		case <-elected:
		case <-due.C:
		case <-rested.C:
			select {
			case <-ctx.Done():
			case <-changed:
			case <-elected:
			case <-due.C:
			}
		}
		due.Stop()
		rested.Stop()
	}
}

// look analyses the state as it is, says what is new where this agent speaks, and returns when to look again.
func (d *daemon) look(now time.Time) (time.Time, error) {
	state, standing := d.store.Snapshot(), d.speaker.Standing()
	result := d.engine.Analyze(state, now)
	d.remedies.add(result.Diagnoses)
	if standing.Speaker {
		open := slices.Clone(result.Diagnoses)
		d.remedies.want(state, open)
		d.measurer.want(state, open)
	} else {
		d.remedies.want(nil, nil)
		d.measurer.want(nil, nil)
	}
	d.metrics.Speaks(standing.Speaker)
	if standing.Fresh {
		d.metrics.Observe(result, state)
	}
	d.mu.Lock()
	d.looked = now
	if standing.Fresh {
		d.result = result
	}
	d.mu.Unlock()
	if err := d.say(result, state, standing, now); err != nil {
		return time.Time{}, err
	}
	next := now.Add(lookAtLeast)
	for _, due := range []time.Time{result.Next, d.record.Next()} {
		if !due.IsZero() && due.Before(next) {
			next = due
		}
	}
	return next, nil
}

// say writes what is new. An agent that takes over from another one has followed silently what that one said; one that is the
// first to speak says everything.
func (d *daemon) say(result analyzer.Result, state *collector.State, standing peers.Standing, now time.Time) error {
	d.heard = d.heard || d.speaker.Addr() != ""
	if !standing.Fresh || !standing.Speaker && !d.heard {
		d.spoke = d.spoke && standing.Speaker
		return nil
	}
	events := d.record.Update(result, state, now)
	begins := standing.Speaker && !d.spoke
	if begins && d.heard {
		events = nil
	}
	if begins {
		events = append([]exporter.Event{d.record.TakeOver(now)}, events...)
	}
	d.spoke = standing.Speaker
	if !standing.Speaker {
		return nil
	}
	for _, event := range events {
		if err := d.events.Write(event); err != nil {
			return err
		}
	}
	return nil
}

// missingSpeaker tells whether nobody is known to speak for the cluster.
func (d *daemon) missingSpeaker() bool { return !d.speaker.Speaks() && d.speaker.Addr() == "" }
