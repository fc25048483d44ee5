package collector

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sirupsen/logrus"
)

// A Source keeps a Store up to date with what the managers say.
type Source interface {
	// Follow fills the store and keeps it true until ctx ends or the source breaks; it never returns nil before ctx ends.
	// It calls live each time the store holds a whole, fresh state.
	Follow(ctx context.Context, store *Store, live func()) error
}

// Reconnection bounds: the first new try comes after a fraction of a second, later ones at most this far apart.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 10 * time.Second
)

// Keep follows the source until ctx ends, and connects again with growing pauses when it breaks.
// connected is told of every change: true with a nil error, false with what broke. The same failure is logged once.
func Keep(ctx context.Context, source Source, store *Store, log *logrus.Entry, connected func(bool, error)) {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstRetry, lastRetry
	said := ""
	for ctx.Err() == nil {
		err := source.Follow(ctx, store, func() {
			if said != "" {
				log.Info("source answers again")
			}
			said = ""
			pause.Reset()
			connected(true, nil)
		})
		if ctx.Err() != nil {
			return
		}
		connected(false, err)
		if err.Error() != said {
			log.WithError(err).Warn("source does not answer, trying again")
			said = err.Error()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// Once reads the whole state from a source a single time.
func Once(ctx context.Context, source Source) (*State, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	store, read := NewStore(), false
	err := source.Follow(ctx, store, func() { read = true; cancel() })
	if !read {
		return nil, err
	}
	return store.Snapshot(), nil
}
