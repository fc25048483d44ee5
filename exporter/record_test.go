package exporter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

const (
	memory     = "insufficient-memory"
	constraint = "placement-constraint"
	unplaced   = "no-available-node"
)

// look is one analysis in a sequence: what changes in the swarm before it, and what it finds.
type look struct {
	at     time.Duration
	change func(*swarm)
	found  []analyzer.Diagnosis
	// silenced is found too, and a label silences it.
	silenced []analyzer.Diagnosis
	// unsettled are services that are not as desired, and not yet stuck.
	unsettled []string
}

// begun, of, previous, patient and shaped change a diagnosis.
func begun(at time.Duration) func(*analyzer.Diagnosis) {
	return func(d *analyzer.Diagnosis) { d.Since = start.Add(at) }
}

func of(service string) func(*analyzer.Diagnosis) {
	return func(d *analyzer.Diagnosis) {
		d.ID, d.Service = service+" "+d.Cause, service
		d.Subject.ID, d.Subject.Name = service, service
	}
}

func previous(d *analyzer.Diagnosis) { d.ID += " of the previous spec" }
func patient(d *analyzer.Diagnosis)  { d.Monitor = time.Hour }

func shaped(shape string) func(*analyzer.Diagnosis) {
	return func(d *analyzer.Diagnosis) { d.ID, d.Shape = d.ID+" "+shape, shape }
}

func is(ds ...analyzer.Diagnosis) []analyzer.Diagnosis { return ds }

// owned gives a service a label.
func owned(s *api.Service) { s.Spec.Annotations.Labels = map[string]string{"owner": "ops"} }

// run has three tasks of web run.
func run(s *swarm) {
	for i := range 3 {
		s.task(fmt.Sprintf("task-%d", i), "id-of-node-1", api.TaskStateRunning, start)
	}
}

// sequence is what is found, look by look, and the lines that this makes.
type sequence struct {
	name  string
	looks []look
	want  []string
}

func checkRecord(t *testing.T, sequences []sequence) {
	t.Helper()
	for _, q := range sequences {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(q.want, replay(t, newRecord(), q.looks)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADiagnosisIsSaidOnce(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name:  "a diagnosis is said once however often it is found",
			looks: []look{{at: 0, found: is(diagnosed(memory))}, {at: time.Second, found: is(diagnosed(memory))}, {at: time.Hour, found: is(diagnosed(memory))}},
			want:  []string{"0s stuck " + memory},
		},
		{
			name: "a task replaced every five seconds is one line",
			looks: func() []look {
				var looks []look
				for i := range 20 {
					d := diagnosed(memory, func(d *analyzer.Diagnosis) { d.Task = fmt.Sprint("task-", i) })
					looks = append(looks, look{at: time.Duration(5*i) * time.Second, found: is(d)},
						look{at: time.Duration(5*i)*time.Second + 4900*time.Millisecond})
				}
				return looks
			}(),
			want: []string{"0s stuck " + memory},
		},
		{
			name: "nothing is resolved while its service is not as desired, and what follows is a change",
			looks: []look{
				{at: 0, found: is(diagnosed(constraint))},
				{at: 10 * time.Second, unsettled: []string{diagnosed(constraint).Subject.ID}},
				{at: 19 * time.Second, unsettled: []string{diagnosed(constraint).Subject.ID}},
				{at: 20 * time.Second, found: is(diagnosed(memory))}, {at: 25 * time.Second, found: is(diagnosed(memory))},
				{at: 30 * time.Second, unsettled: []string{diagnosed(constraint).Subject.ID}}, {at: 40 * time.Second},
			},
			want: []string{
				"0s stuck " + constraint, "25s changed " + memory + " was " + constraint,
				"40s resolved " + memory + " lasted 30s by nothing is stuck any more",
			},
		},
	})
}

func TestACauseThatChangesIsSaidOnceItStays(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name: "a cause that flips for three seconds is not said",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))}, {at: 10 * time.Second, found: is(diagnosed(unplaced))},
				{at: 13 * time.Second, found: is(diagnosed(memory))}, {at: 30 * time.Second, found: is(diagnosed(memory))},
			},
			want: []string{"0s stuck " + memory},
		},
		{
			name: "a cause that changes is said after five seconds and keeps the earliest time",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))},
				{at: 10 * time.Second, found: is(diagnosed(constraint, begun(9*time.Second)))},
				{at: 14900 * time.Millisecond, found: is(diagnosed(constraint, begun(9*time.Second)))},
				{at: 15 * time.Second, found: is(diagnosed(constraint, begun(9*time.Second)))},
				{at: 20 * time.Second},
				{at: 25 * time.Second},
			},
			want: []string{
				"0s stuck " + memory, "15s changed " + constraint + " was " + memory,
				"25s resolved " + constraint + " lasted 20s by nothing is stuck any more",
			},
		},
		{
			name: "a cause that comes and goes in the place of one that is resolved is never said",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))}, {at: 10 * time.Second, found: is(diagnosed(unplaced))},
				{at: 12 * time.Second, change: run}, {at: 17 * time.Second},
			},
			want: []string{"0s stuck " + memory, "17s resolved " + memory + " lasted 10s by 3 tasks run"},
		},
	})
}

func TestADiagnosisIsResolvedOnceItStaysAway(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name: "what comes back within the monitor time was never resolved",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))}, {at: 10 * time.Second}, {at: 14 * time.Second, found: is(diagnosed(memory))},
				{at: 16 * time.Second}, {at: 20 * time.Second}, {at: 21 * time.Second},
			},
			want: []string{"0s stuck " + memory, "21s resolved " + memory + " lasted 16s by nothing is stuck any more"},
		},
		{
			name: "what comes back after it was resolved is said again",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))}, {at: 10 * time.Second}, {at: 15 * time.Second},
				{at: 20 * time.Second, found: is(diagnosed(memory, begun(18*time.Second)))},
			},
			want: []string{"0s stuck " + memory, "15s resolved " + memory + " lasted 10s by nothing is stuck any more", "20s stuck " + memory},
		},
		{
			name: "a service with a long update monitor is resolved later",
			looks: []look{
				{at: 0, found: is(diagnosed(memory, func(d *analyzer.Diagnosis) { d.Monitor = time.Minute }))},
				{at: 10 * time.Second, change: run}, {at: 69 * time.Second}, {at: 70 * time.Second},
			},
			want: []string{"0s stuck " + memory, "1m10s resolved " + memory + " lasted 10s by 3 tasks run"},
		},
	})
}

func TestAResolutionTellsWhatBroughtIt(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name: "a removed service is resolved without its monitor time",
			looks: []look{
				{at: 0, found: is(diagnosed(memory, func(d *analyzer.Diagnosis) { d.Monitor = time.Hour }))},
				{at: 10 * time.Second, change: func(s *swarm) { s.remove(service("web")) }}, {at: 15 * time.Second},
			},
			want: []string{"0s stuck " + memory, "15s resolved " + memory + " lasted 10s by service removed"},
		},
		{
			name: "a node that is active again resolves",
			looks: []look{
				{at: 0, change: func(s *swarm) { s.put(node("node-3", drained)) }, found: is(diagnosed(unplaced))},
				{at: 10 * time.Second, change: func(s *swarm) { s.put(node("node-3")) }, found: is(diagnosed("unexplained"))},
				{at: 11 * time.Second, change: run}, {at: 15 * time.Second},
			},
			want: []string{"0s stuck " + unplaced, "15s resolved " + unplaced + " lasted 10s by node node-3: availability drain -> active"},
		},
		{
			name: "an updated service tells what was changed",
			looks: []look{
				{at: 0, change: func(s *swarm) { s.put(service("web", reserving(12<<30))) }, found: is(diagnosed(memory))},
				{at: 10 * time.Second, change: func(s *swarm) { s.put(service("web", reserving(1<<30))) }}, {at: 15 * time.Second},
			},
			want: []string{"0s stuck " + memory, "15s resolved " + memory + " lasted 10s by service updated: reservation memory 12 GiB -> 1 GiB"},
		},
		{
			name: "a task that gives up what was short resolves",
			looks: []look{
				{
					at:     0,
					change: func(s *swarm) { s.task("holder", "id-of-node-2", api.TaskStateRunning, start) },
					found: is(diagnosed(memory, func(d *analyzer.Diagnosis) {
						d.Evidence = []analyzer.Evidence{{What: "memory", Node: "node-2", Holders: []analyzer.Holder{{Service: "db", Task: "holder"}}}}
					})),
				},
				{at: 10 * time.Second, change: func(s *swarm) { s.task("holder", "id-of-node-2", api.TaskStateShutdown, start) }},
				{at: 15 * time.Second},
			},
			want: []string{"0s stuck " + memory, "15s resolved " + memory + " lasted 10s by a task of db on node-2 ended, which held memory"},
		},
	})
}

func TestASilencedDiagnosisIsResolved(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name: "a label that silences it resolves",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))}, {at: 10 * time.Second, silenced: is(diagnosed(memory))},
				{at: 15 * time.Second, silenced: is(diagnosed(memory))},
			},
			want: []string{"0s stuck " + memory, "15s resolved " + memory + " lasted 10s by silenced by a label; it is still stuck"},
		},
		{
			name: "a silenced service is not waited for, and one that is well again before that was not silenced",
			looks: []look{
				{at: 0, change: func(s *swarm) { s.put(service("api")) }, found: is(diagnosed(memory, patient), diagnosed(memory, of("api")))},
				{at: 10 * time.Second, silenced: is(diagnosed(memory, patient), diagnosed(memory, of("api")))},
				{at: 12 * time.Second, change: run, silenced: is(diagnosed(memory, patient))},
				{at: 15 * time.Second, silenced: is(diagnosed(memory, patient))},
			},
			want: []string{
				"0s stuck " + memory, "0s stuck " + memory,
				"15s resolved " + memory + " lasted 10s by nothing is stuck any more",
				"15s resolved " + memory + " lasted 10s by silenced by a label; it is still stuck",
			},
		},
		{
			name: "an update that changes nothing of it makes no line, even where the label that it adds silences later",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))},
				{at: 10 * time.Second, change: func(s *swarm) { s.put(service("web", owned)) }, found: is(diagnosed(memory, previous))},
				{at: 30 * time.Second, found: is(diagnosed(memory, previous, begun(20*time.Second)))},
				{at: 40 * time.Second, silenced: is(diagnosed(memory))}, {at: 45 * time.Second, silenced: is(diagnosed(memory))},
			},
			want: []string{"0s stuck " + memory, "45s resolved " + memory + " lasted 40s by silenced by a label; it is still stuck"},
		},
	})
}

func TestWhatHoldsTheSameIsOneLine(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name: "tasks of the current and of the previous spec that the same holds are one line",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))},
				{at: 10 * time.Second, found: is(diagnosed(memory, begun(10*time.Second)), diagnosed(memory, previous))},
				{at: 20 * time.Second, found: is(diagnosed(memory, begun(10*time.Second)))},
				{at: 30 * time.Second, found: is(diagnosed(memory, previous, begun(25*time.Second)))},
				{at: 40 * time.Second}, {at: 45 * time.Second},
			},
			want: []string{"0s stuck " + memory, "45s resolved " + memory + " lasted 40s by nothing is stuck any more"},
		},
		{
			name: "of two that begin at once the earliest time counts",
			looks: []look{
				{at: time.Minute, found: is(diagnosed(memory, begun(50*time.Second)), diagnosed(memory, previous))},
				{at: 2 * time.Minute}, {at: 125 * time.Second},
			},
			want: []string{"1m0s stuck " + memory, "2m5s resolved " + memory + " lasted 2m0s by nothing is stuck any more"},
		},
		{
			name: "an unexplained service is one line whichever component holds its task",
			looks: func() []look {
				var looks []look
				for i := range 20 {
					component := analyzer.Agent
					if i%2 == 0 {
						component = analyzer.Orchestrator
					}
					held := func(d *analyzer.Diagnosis) { d.ID, d.Component = "web "+string(component), component }
					looks = append(looks, look{at: time.Duration(7*i) * time.Second, found: is(diagnosed("unexplained", held))})
				}
				return looks
			}(),
			want: []string{"0s stuck unexplained"},
		},
	})
}

func TestAnotherCauseIsAnotherLine(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name: "another shape of a cause is news",
			looks: []look{
				{at: 0, found: is(diagnosed(memory, shaped("fragmented")))}, {at: 10 * time.Second, found: is(diagnosed(memory, shaped("too-large")))},
				{at: 15 * time.Second, found: is(diagnosed(memory, shaped("too-large")))},
			},
			want: []string{"0s stuck " + memory + " fragmented", "15s changed " + memory + " too-large was " + memory},
		},
		{
			name: "one of two causes that ends leaves the other",
			looks: []look{
				{at: 0, found: is(diagnosed(memory), diagnosed(constraint))},
				{at: 10 * time.Second, found: is(diagnosed(constraint))}, {at: 15 * time.Second, found: is(diagnosed(constraint))},
			},
			want: []string{
				"0s stuck " + memory, "0s stuck " + constraint,
				"15s resolved " + memory + " lasted 10s by still held by another cause: " + constraint,
			},
		},
		{
			name: "another service that gets stuck is no change of this one",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))}, {at: time.Second, found: is(diagnosed(constraint, of("api")))},
				{at: 6 * time.Second, found: is(diagnosed(constraint, of("api")))},
			},
			want: []string{"0s stuck " + memory, "1s stuck " + constraint, "6s resolved " + memory + " lasted 1s by nothing is stuck any more"},
		},
	})
}

func TestNothingIsSaidOfNodesThatAreUnknownForAWhile(t *testing.T) {
	t.Parallel()
	checkRecord(t, []sequence{
		{
			name: "nothing is said while nodes are unknown after a change of leader",
			looks: []look{
				{at: 0, found: is(diagnosed(memory))},
				{at: 10 * time.Second, change: func(s *swarm) { s.put(node("node-1", unknown)) }, found: is(diagnosed(unplaced), diagnosed(unplaced, of("api")))},
				{at: 21 * time.Second, found: is(diagnosed(unplaced), diagnosed(unplaced, of("api")))},
				{at: 22 * time.Second, change: func(s *swarm) { s.put(node("node-1")) }, found: is(diagnosed(memory))},
				{at: 40 * time.Second, found: is(diagnosed(memory))},
			},
			want: []string{"0s stuck " + memory},
		},
		{
			name: "a node that stays unknown does not silence for longer than twenty seconds",
			looks: []look{
				{at: 0, change: func(s *swarm) { s.put(node("node-1", unknown)) }, found: is(diagnosed(unplaced))},
				{at: 19 * time.Second, found: is(diagnosed(unplaced))}, {at: 20 * time.Second, found: is(diagnosed(unplaced))},
			},
			want: []string{"20s stuck " + unplaced},
		},
		{
			name: "a node that never registered silences nothing",
			looks: []look{{
				at:     0,
				change: func(s *swarm) { s.put(node("node-1", func(n *api.Node) { n.Status.State = api.NodeStatus_UNKNOWN })) },
				found:  is(diagnosed(memory)),
			}},
			want: []string{"0s stuck " + memory},
		},
	})
}

func newRecord() *Record {
	return NewRecord(func(*api.Service) *analyzer.LastChange {
		return &analyzer.LastChange{At: start, What: []string{"reservation memory 12 GiB -> 1 GiB"}}
	})
}

// replay takes the looks one after the other and writes down what is said.
func replay(t *testing.T, r *Record, looks []look) []string {
	t.Helper()
	s := newSwarm(t)
	var lines []string
	for _, look := range looks {
		if look.change != nil {
			look.change(s)
		}
		found := result(look.found...)
		found.Ignored = look.silenced
		found.Unsettled = map[string]bool{}
		for _, id := range look.unsettled {
			found.Unsettled[id] = true
		}
		for _, event := range r.Update(found, s.Snapshot(), start.Add(look.at)) {
			lines = append(lines, sayEvent(event))
		}
	}
	return lines
}

func sayEvent(e Event) string {
	said := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.At.Sub(start), e.Kind, e.Diagnosis.Cause, e.Diagnosis.Shape))
	switch e.Kind {
	case Changed:
		said += " was " + e.Was
	case Resolved:
		said += fmt.Sprintf(" lasted %s by %s", e.Lasted, e.By)
	}
	return said
}

func TestARecordAsksToBeCalledWhenSomethingBecomesDue(t *testing.T) {
	t.Parallel()
	r, s := newRecord(), newSwarm(t)
	for _, step := range []struct {
		at    time.Duration
		found []analyzer.Diagnosis
		next  time.Duration // zero: not by itself
	}{
		{at: 0, found: []analyzer.Diagnosis{diagnosed(memory)}},
		{at: 10 * time.Second, next: 15 * time.Second},
		{at: 12 * time.Second, next: 15 * time.Second},
		{at: 13 * time.Second, found: []analyzer.Diagnosis{diagnosed(constraint)}, next: 18 * time.Second},
		{at: 18 * time.Second, found: []analyzer.Diagnosis{diagnosed(constraint)}},
		{at: 20 * time.Second, next: 25 * time.Second},
		{at: 25 * time.Second},
	} {
		r.Update(result(step.found...), s.Snapshot(), start.Add(step.at))
		want := time.Time{}
		if step.next != 0 {
			want = start.Add(step.next)
		}
		if !r.Next().Equal(want) {
			t.Errorf("after %s: next at %s, want %s", step.at, r.Next(), want)
		}
	}
	if len(r.said) != 0 {
		t.Errorf("the record still holds %d diagnoses", len(r.said))
	}
}

func TestAStateWithoutNodesResolvesNothing(t *testing.T) {
	t.Parallel()
	r, s := newRecord(), newSwarm(t)
	r.Update(result(diagnosed(memory)), s.Snapshot(), start)
	for at := range 20 {
		if events := r.Update(analyzer.Result{}, s.Snapshot(), start.Add(time.Duration(at)*time.Second)); len(events) > 0 {
			t.Fatalf("said %v", events)
		}
	}
}

func TestWhoTakesOverSaysTheCountsAndThenOnlyChanges(t *testing.T) {
	t.Parallel()
	r, s := newRecord(), newSwarm(t)
	r.Update(result(diagnosed(memory), diagnosed(constraint)), s.Snapshot(), start) // followed silently
	event := r.TakeOver(start.Add(time.Minute))
	if event.Kind != Takeover || !event.At.Equal(start.Add(time.Minute)) {
		t.Errorf("said %s at %s", event.Kind, event.At)
	}
	if diff := cmp.Diff(map[string]int{memory: 1, constraint: 1}, event.Open); diff != "" {
		t.Errorf("open (-want +got):\n%s", diff)
	}
	if events := r.Update(result(diagnosed(memory), diagnosed(constraint)), s.Snapshot(), start.Add(time.Minute)); len(events) > 0 {
		t.Errorf("said again: %v", events)
	}
}
