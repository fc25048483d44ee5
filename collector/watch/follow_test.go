package watch

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/swarmdiag/swarmdiag/collector"
)

// following is a source at work, and what it has filled.
type following struct {
	store *collector.Store
	live  chan struct{} // one value each time the source says so
	ended chan error    // what Follow returned
}

// follow runs a source until the test ends.
func follow(t *testing.T, source *Source) *following {
	t.Helper()
	f := &following{store: collector.NewStore(), live: make(chan struct{}, 100), ended: make(chan error, 1)}
	f.again(t, source)
	return f
}

// again runs a source into the same store, after the one before has ended.
func (f *following) again(t *testing.T, source *Source) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.ended <- source.Follow(ctx, f.store, func() { f.live <- struct{}{} })
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func (f *following) waitLive(t *testing.T) {
	t.Helper()
	select {
	case <-f.live:
	case err := <-f.ended:
		t.Fatalf("the source ended before it was live: %v", err)
	case <-time.After(patience):
		t.Fatal("the source is not live in time")
	}
}

// waitEnd returns what Follow broke with.
func (f *following) waitEnd(t *testing.T) error {
	t.Helper()
	select {
	case err := <-f.ended:
		return err
	case <-time.After(patience):
		t.Fatal("the source did not notice in time")
		return nil
	}
}

// wait returns the first state that fulfils the condition.
func (f *following) wait(t *testing.T, what string, fulfils func(*collector.State) bool) *collector.State {
	t.Helper()
	late := time.After(patience)
	for {
		changed := f.store.Changed()
		if state := f.store.Snapshot(); fulfils(state) {
			return state
		}
		select {
		case <-changed:
		case err := <-f.ended:
			t.Fatalf("waiting until %s: the source ended: %v", what, err)
		case <-late:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// contents is everything a state holds, by kind and id.
func contents(state *collector.State) map[string]any {
	all := map[string]any{}
	for n := range state.Nodes() {
		all[fmt.Sprint("node ", n.ID)] = n
	}
	for s := range state.Services() {
		all[fmt.Sprint("service ", s.ID)] = s
	}
	for task := range state.Tasks() {
		all[fmt.Sprint("task ", task.ID)] = task
	}
	for n := range state.Networks() {
		all[fmt.Sprint("network ", n.ID)] = n
	}
	for v := range state.Volumes() {
		all[fmt.Sprint("volume ", v.ID)] = v
	}
	return all
}
