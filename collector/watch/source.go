// Package watch follows a swarm through the control socket of a manager: it opens swarmkit's Watch, lists what there is,
// and then applies each event as the manager commits it. Its connection can only read; see readonly.go.
//
// After a break it lists again and does not ask Watch to resume from a version: resuming leaves a goroutine and an
// unbounded queue in dockerd, until that ends, when the client goes away while an event is under way (WatchFrom in
// swarmkit's manager/state/store), and nothing marks where the replayed past ends. A listing is whole at once, and right
// for a swarm that was restored from a backup too.
package watch

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// Source is a collector.Source that reads the control socket of a manager.
type Source struct {
	path    string
	pulse   time.Duration // between two proofs of a quorum: without one Watch stays open and silent
	relist  time.Duration // between two whole listings: bounds how long a change that was missed can matter
	answer  time.Duration // bounds a call with a short answer
	listing time.Duration // bounds each call of a listing
}

// New returns a source that reads the control socket at path; on a manager with Docker's defaults that is
// /run/docker/swarm/control.sock.
func New(path string) *Source {
	return &Source{
		path:    path,
		pulse:   5 * time.Second,
		relist:  10 * time.Minute,
		answer:  10 * time.Second,
		listing: time.Minute,
	}
}

// Follow implements collector.Source. Its errors are sentences for an operator and keep their cause: fs.ErrNotExist and
// fs.ErrPermission for the socket, context.DeadlineExceeded where nothing answered.
func (s *Source) Follow(ctx context.Context, store *collector.Store, live func()) error {
	err := s.follow(ctx, store, live)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("control socket %s: %w", s.path, err)
}

func (s *Source) follow(ctx context.Context, store *collector.Store, live func()) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()

	r := &reading{Source: s, control: api.NewControlClient(conn), store: store, dropped: map[string]uint64{}}
	about, err := r.about(ctx)
	if err != nil {
		return err
	}
	events, err := s.open(ctx, api.NewWatchClient(conn))
	if err != nil {
		return err
	}
	defer events.close()
	// What changes from here on waits in events, so that the listing misses nothing.
	if err := r.list(ctx); err != nil {
		return err
	}
	about.AsOf = time.Now()
	store.Describe(about)
	live()
	return r.keepUp(ctx, events)
}

// reading is a source at work on one connection.
type reading struct {
	*Source
	control api.ControlClient
	store   *collector.Store
	// dropped are the versions, by id, of objects that a listing lacked and whose removal is still to be told.
	dropped map[string]uint64
}

const (
	// gather is the least time between two changes of the store: what comes in a row is one change, which costs a good part of
	// what each for itself would. An event after a pause is applied at once.
	gather = 100 * time.Millisecond
	// gatherMost bounds how many events wait for that.
	gatherMost = 1000
)

func (r *reading) keepUp(ctx context.Context, events *stream) error {
	pulse, relist, rested := time.NewTicker(r.pulse), time.NewTicker(r.relist), time.NewTimer(0)
	defer pulse.Stop()
	defer relist.Stop()
	defer rested.Stop()
	var gathered []*api.WatchMessage_Event
	isRested := false
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case message, open := <-events.messages:
			if !open {
				return cmp.Or(r.apply(gathered), events.err)
			}
			gathered = append(gathered, message.Events...)
		case <-rested.C:
			isRested = true
		case <-pulse.C:
			err = r.refreshManagers(ctx)
		case <-relist.C:
			err = r.list(ctx)
		}
		if err == nil && len(gathered) > 0 && (isRested || len(gathered) >= gatherMost) {
			err = r.apply(gathered)
			gathered, isRested = nil, false
			rested.Reset(gather)
		}
		if err != nil {
			return err
		}
		r.store.Confirm(time.Now())
	}
}
