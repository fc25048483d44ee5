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

// StateOf puts objects, and slices of them, into a state.
func StateOf(t testing.TB, objects ...any) *collector.State {
	t.Helper()
	var flat []any
	for _, o := range objects {
		if several, is := o.([]any); is {
			flat = append(flat, several...)
		} else {
			flat = append(flat, o)
		}
	}
	store := collector.NewStore()
	if err := store.Replace(flat); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}
