package testbed

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"
	"time"
)

// ForTest brings a swarm up for a test and takes it down when the test ends. Its name has a mark of this checkout added, so that
// the tests of two checkouts can run at once; what a run that was killed leaves still is in the way of the next one there. Where the machine cannot have one the
// test is skipped, and says why; everything else that goes wrong fails it.
func ForTest(t testing.TB, o Options) *Swarm {
	t.Helper()
	if o.Progress == nil {
		o.Progress = t.Output()
	}
	mark, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	o.Name += "-" + mark
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

// checkout is a mark of eight hexadecimal digits for the folder that the tests are run from.
func checkout() (string, error) {
	path, err := command()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(path))), nil
}
