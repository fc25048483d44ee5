package exporter

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// TestWhatIsSaidIsTrue lets causes of a service come and go at random, and follows what the lines alone tell.
func TestWhatIsSaidIsTrue(t *testing.T) {
	t.Parallel()
	state := newSwarm(t).Snapshot()
	rapid.Check(t, func(draw *rapid.T) {
		r, now, told := newRecord(), start, map[string]bool{}
		look := func(found []analyzer.Diagnosis) {
			for _, e := range r.Update(result(found...), state, now) {
				cause := e.Diagnosis.Cause
				switch e.Kind {
				case Stuck, Changed:
					if told[cause] {
						draw.Fatalf("%s is said twice", cause)
					}
					if e.Kind == Changed && !told[e.Was] {
						draw.Fatalf("%s was never said", e.Was)
					}
					delete(told, e.Was)
					told[cause] = true
				case Resolved:
					if !told[cause] {
						draw.Fatalf("%s is resolved and was never said", cause)
					}
					delete(told, cause)
				}
			}
		}
		for range rapid.IntRange(1, 30).Draw(draw, "looks") {
			var found []analyzer.Diagnosis
			for _, cause := range []string{memory, constraint, unplaced} {
				if rapid.Bool().Draw(draw, cause) {
					found = append(found, diagnosed(cause))
				}
			}
			look(found)
			now = now.Add(time.Duration(rapid.IntRange(1, 8000).Draw(draw, "pause")) * time.Millisecond)
			look(found)
			if !r.Next().IsZero() && !r.Next().After(now) {
				draw.Fatalf("due at %s, and nothing was said at %s", r.Next(), now)
			}
			for range 2 { // what lasts is said in the end, and only that
				if next := r.Next(); !next.IsZero() && rapid.Bool().Draw(draw, "settles") {
					now = next
					look(found)
				}
			}
			if r.Next().IsZero() && len(told) != len(found) {
				draw.Fatalf("%v is told, found are %d", told, len(found))
			}
		}
		look(nil)
		now = now.Add(holdTime)
		look(nil)
		if len(told) > 0 || len(r.said) > 0 || !r.Next().IsZero() {
			draw.Fatalf("nothing is stuck, and %v is told", told)
		}
	})
}
