package testbed

import (
	"context"
	"errors"
	"testing"
	"time"
)

// ForTest brings a swarm up for a test and takes it down when the test ends. Where the machine cannot have one the
// test is skipped, and says why; everything else that goes wrong fails it.
func ForTest(t testing.TB, o Options) *Swarm {
	t.Helper()
	if o.Progress == nil {
		o.Progress = t.Output()
	}
	swarm, err := Up(t.Context(), o)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context is done by now.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := swarm.Down(ctx); err != nil {
			t.Error(err)
		}
	})
	return swarm
}
