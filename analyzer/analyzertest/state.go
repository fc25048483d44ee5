package analyzertest

import (
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/swarmdiag/swarmdiag/collector"
)

// State reads a case as a dump: the state, and the time that is now in it.
func State(t *testing.T, name string) (*collector.State, time.Time) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return readDump(t, complete(t, archive))
}
