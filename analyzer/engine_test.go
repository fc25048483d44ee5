package analyzer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/collector"
)

func TestTheEngineSaysWhatAFreshAnalysisSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		store := collector.NewStore()
		patience := Patience{ProvenAtOnce: rapid.Bool().Draw(t, "proven at once")}
		engine, now := NewEngine(patience), epoch
		services := []*api.Service{drawService(t, "service-0"), drawService(t, "service-1")}
		put(t, store, services[0], services[1])
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			for range rapid.IntRange(1, 4).Draw(t, "edits") {
				edit(t, store, services)
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "passes")) * time.Second)
			state := store.Snapshot()
			got, want := engine.Analyze(state, now), Analyze(state, now, patience)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Diagnosis{}, thing{}), cmpopts.IgnoreFields(Diagnosis{}, "Waiting")); diff != "" {
				t.Fatalf("the engine differs (-fresh +engine):\n%s", diff)
			}
		}
	})
}

// edit puts or removes one object.
func edit(t *rapid.T, store *collector.Store, services []*api.Service) {
	node := fmt.Sprintf("node-%d", rapid.IntRange(0, 4).Draw(t, "which node"))
	task := fmt.Sprintf("task-%d", rapid.IntRange(0, 9).Draw(t, "which task"))
	i := rapid.IntRange(0, len(services)-1).Draw(t, "which service")
	switch rapid.IntRange(0, 9).Draw(t, "edit") {
	case 0:
		remove(t, store, &api.Node{ID: node})
	case 1:
		remove(t, store, &api.Task{ID: task})
	case 2:
		remove(t, store, services[i])
	case 3:
		services[i] = drawService(t, services[i].ID)
		put(t, store, services[i])
	case 4, 5:
		put(t, store, drawNode(t, node))
	default:
		put(t, store, drawTask(t, services[i], task))
	}
}

func put(t *rapid.T, store *collector.Store, objects ...any) {
	if err := store.Put(objects...); err != nil {
		t.Fatal(err)
	}
}

func remove(t *rapid.T, store *collector.Store, objects ...any) {
	if err := store.Remove(objects...); err != nil {
		t.Fatal(err)
	}
}

func TestAnEngineThatMissedChangesLooksAnew(t *testing.T) {
	t.Parallel()
	engine := NewEngine(Patience{})
	engine.Analyze(stateWith(t, web(1)), epoch)
	other := stateWith(t, web(1), taskOf(1, api.TaskStatePending, time.Minute))
	if got := engine.Analyze(other, epoch).Diagnoses; len(got) != 1 || !slices.Contains([]string{"not-retried"}, got[0].Cause) {
		t.Errorf("of a state of another store it says %+v", got)
	}
}
