package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/watch"
)

// follower is a store that a control socket is followed into, as the agent does.
type follower struct {
	store  *collector.Store
	cancel context.CancelFunc
	source sync.WaitGroup
}

// follow returns once the store holds the whole state.
func follow(ctx context.Context, socket string) (*follower, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{store: collector.NewStore(), cancel: cancel}
	live, failed := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	f.source.Go(func() {
		failed <- watch.New(socket).Follow(ctx, f.store, func() { once.Do(func() { close(live) }) })
	})
	select {
	case <-live:
		return f, nil
	case err := <-failed:
		cancel()
		return nil, fmt.Errorf("follow the leader: %w", err)
	}
}

func (f *follower) stop() {
	f.cancel()
	f.source.Wait()
}

// heap is what is in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
