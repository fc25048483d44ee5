package exporter

import (
	"bytes"
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
)

func TestOutcomesAreAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	stops := whatif.Outcome{
		About: []string{"web"},
		Services: []whatif.Service{
			{
				Name: "web", Wanted: 3, Running: 3, Waiting: 2, On: []whatif.NodeCount{{Node: "node-1", Tasks: 2, Before: 2}, {Node: "node-2", Tasks: 1, Before: 1}},
				DockerWouldSay: "no suitable node (insufficient resources on 2 nodes)",
				Update: &whatif.Update{
					Order: "start-first", Parallelism: 2, Replaces: 3, Steps: []whatif.Step{{Replaces: 2, Left: 3}},
					Needs: []whatif.Need{
						{What: "memory", Unit: "bytes", Tasks: 2, Each: 4 * gib, Beside: 3, BesideEach: 4 * gib, Free: 3 * gib, Node: "node-2"},
						{What: "replicas", Tasks: 2, Each: 1, Beside: 3, BesideEach: 1, Free: 4, Wanted: "2 per node"},
						{What: "host-port", Tasks: 2, Beside: 3, Wanted: "8080/tcp"},
					},
				},
			},
			{Name: "old", Removed: true, On: []whatif.NodeCount{{Node: "node-1", Before: 1}}},
		},
		Displaced: []whatif.Displaced{{Service: "old", Node: "node-1", Tasks: 1, Why: "service removed"}},
		Diagnoses: []analyzer.Diagnosis{{
			Service: "web", Cause: "insufficient-memory", Shape: "fragmented", Summary: "web: each task reserves 4 GiB of memory",
			Evidence: []analyzer.Evidence{{What: "memory", Hint: "password=hunter2 is not for show"}},
		}},
		Unchecked: []string{"whether secret tls exists"},
	}
	long := whatif.Outcome{Services: []whatif.Service{{
		Name: "api", New: true, Wanted: 20, Running: 20,
		Update: &whatif.Update{Order: "stop-first", Parallelism: 1, Replaces: 20, Done: 12, Capped: true, Steps: make([]whatif.Step, 12)},
	}}}
	others := whatif.Outcome{
		PlacesAll: true, About: []string{"api", "holder"},
		Services: []whatif.Service{
			{Name: "api", Wanted: 1, Running: 1}, {Name: "holder"},
			{Name: "web", Other: true, Wanted: 3, Running: 2, Waiting: 1, Placed: 1, On: []whatif.NodeCount{{Node: "node-1", Tasks: 2, Before: 1}}},
		},
		StillWaiting: []whatif.Waiters{{Service: "big", Tasks: 2}},
	}
	many := whatif.Outcome{PlacesAll: true, About: []string{"a", "b", "c", "d"}, Services: []whatif.Service{{Name: "a"}}}
	for name, outcome := range map[string]whatif.Outcome{
		"outcome.others.txt":  others,
		"outcome.many.txt":    many,
		"outcome.txt":         stops,
		"outcome.capped.txt":  long,
		"outcome.nothing.txt": {PlacesAll: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := Outcome(&out, RedactOutcome(outcome), false); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.Bytes())
		})
	}
}
