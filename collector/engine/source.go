package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// quiet is the least time between two polls, however many events come.
	quiet = 500 * time.Millisecond
	// share is how many times as long as a poll took the engine is left alone after it, longest for how long at most: in a large
	// swarm a poll costs the leader seconds, and events come all the time.
	share   = 60
	longest = 3 * time.Minute
)

// streamLife bounds a stream of events: one that died without a word is replaced after this long.
const streamLife = 10 * time.Minute

// Source polls one engine. It implements collector.Source.
type Source struct {
	client   *Client
	interval time.Duration
}

// New returns a source that asks the client's engine every interval, and sooner after an event of the swarm.
func New(client *Client, interval time.Duration) *Source {
	return &Source{client: client, interval: max(interval, quiet)}
}

// Follow implements collector.Source. A single read needs one connection: the stream of events, which takes one of its
// own, is opened after the first whole state.
func (s *Source) Follow(ctx context.Context, store *collector.Store, live func()) error {
	info, gaps, err := s.client.connect(ctx)
	if err != nil {
		return err
	}
	listening, stop := context.WithCancel(ctx)
	var listener sync.WaitGroup
	defer listener.Wait()
	defer stop()
	nudge := make(chan struct{}, 1)
	for first := true; ; first = false {
		started := time.Now()
		inspected, err := s.client.inspect(ctx, info, gaps)
		if err != nil {
			return err
		}
		listing := store.List()
		about := inspected.each(func(object any) { listing.Add(object) })
		about.Source, about.AsOf = "engine", started
		about.Every = Interval(s.interval, time.Since(started))
		if err := listing.Replace(); err != nil {
			return fmt.Errorf("%s: %w", s.client.host, err)
		}
		store.Describe(about)
		live()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if first {
			listener.Go(func() { s.listen(listening, nudge) })
		}
		took := time.Since(started)
		if err := pause(ctx, nudge, least(took), Interval(s.interval, took)-took); err != nil {
			return err
		}
	}
}

// least is how long the engine is left alone after a poll that took so long.
func least(took time.Duration) time.Duration { return min(max(share*took, quiet), longest) }

// Interval is how often an engine is polled that is to be polled as often as wanted, where one poll takes so long.
func Interval(wanted, took time.Duration) time.Duration { return max(wanted, took+least(took)) }

// pause waits for the next poll: until left is over, or for an event, but least in any case.
func pause(ctx context.Context, nudge <-chan struct{}, least, left time.Duration) error {
	earliest, due := time.NewTimer(least), time.NewTimer(left)
	defer earliest.Stop()
	defer due.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-due.C:
		return nil
	case <-nudge:
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-earliest.C:
		return nil
	}
}

// listen passes on that something changed. Events are a help, not the source: where the engine does not send them, or
// stops to, polling goes on, and they are asked for again an interval later.
func (s *Source) listen(ctx context.Context, nudge chan<- struct{}) {
	wanted := events.ListOptions{Filters: filters.NewArgs(filters.Arg("scope", "swarm"),
		filters.Arg("type", string(events.NodeEventType)),
		filters.Arg("type", string(events.ServiceEventType)),
		filters.Arg("type", string(events.NetworkEventType)),
	)}
	for ctx.Err() == nil {
		s.stream(ctx, wanted, nudge)
		select {
		case <-ctx.Done():
		case <-time.After(s.interval):
		}
	}
}

// stream reads one stream of events to its end.
func (s *Source) stream(ctx context.Context, wanted events.ListOptions, nudge chan<- struct{}) {
	ctx, cancel := context.WithTimeout(ctx, streamLife)
	defer cancel()
	messages, failed := s.client.api.Events(ctx, wanted)
	for {
		select {
		case <-failed:
			return
		case <-messages:
			select {
			case nudge <- struct{}{}:
			default: // one is on its way
			}
		}
	}
}
