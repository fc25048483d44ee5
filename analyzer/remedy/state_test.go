package remedy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

const (
	gib  = collectortest.GiB
	core = collectortest.Core
)

// later is when tasks are looked at.
var later = collectortest.Epoch.Add(time.Hour)

// What swarms are made of, under short names.
var (
	drained, paused, down, labelled, memoryOf         = collectortest.Drained, collectortest.Paused, collectortest.Down, collectortest.Labelled, collectortest.MemoryOf
	service, reserves, constrained, publishes, global = collectortest.Service, collectortest.Reserves, collectortest.Constrained, collectortest.Publishes, collectortest.Global
	newTask, on, waiting, stateOf                     = collectortest.Task, collectortest.On, collectortest.Waiting, analyzertest.StateOf
)

// node is collectortest.Node. The first is the leader.
func node(number int, set ...func(*api.Node)) *api.Node {
	if number == 1 {
		set = append([]func(*api.Node){collectortest.Leader}, set...)
	}
	return collectortest.Node(number, set...)
}

func offers(kind string, pieces int64) func(*api.Node) {
	return func(n *api.Node) {
		n.Description.Resources.Generic = append(n.Description.Resources.Generic, genericresource.NewDiscrete(kind, pieces))
	}
}

func reservesGeneric(kind string, pieces int64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.Resources.Reservations.Generic = append(s.Task.Resources.Reservations.Generic, genericresource.NewDiscrete(kind, pieces))
	}
}

func inStack(name string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Annotations.Labels = map[string]string{labelStack: name} }
}

func startFirst(s *api.ServiceSpec) { s.Update.Order = api.UpdateConfig_START_FIRST }

// waitingOn makes the pending tasks of a global service on nodes.
func waitingOn(s *api.Service, nodes ...int) []any {
	var tasks []any
	for _, number := range nodes {
		t := newTask(s, 0, api.TaskStatePending)
		t.NodeID = fmt.Sprintf("id%d", number)
		t.ID += t.NodeID
		tasks = append(tasks, t)
	}
	return tasks
}

// diagnosed analyzes the state, and picks the diagnosis of a cause.
func diagnosed(t *testing.T, state *collector.State, cause string) *analyzer.Diagnosis {
	t.Helper()
	result := analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true})
	i := slices.IndexFunc(result.Diagnoses, func(d analyzer.Diagnosis) bool { return d.Cause == cause })
	if i < 0 {
		t.Fatalf("no diagnosis has the cause %s: %+v", cause, result.Diagnoses)
	}
	return &result.Diagnoses[i]
}

// remediesOf returns what is found for the diagnosis of a cause.
func remediesOf(t *testing.T, state *collector.State, cause string) []analyzer.Remedy {
	t.Helper()
	found, err := Find(t.Context(), state, diagnosed(t, state, cause))
	if err != nil {
		t.Fatal(err)
	}
	if found.Ended {
		t.Error("the search ended before its time")
	}
	return found.Remedies
}

// example is a state, and what helps in it.
type example struct {
	name    string
	objects []any
	// want are remedies in brief, see brief.
	want []string
}

// check holds what is found for a cause against the examples.
func check(t *testing.T, cause string, examples []example) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range remediesOf(t, stateOf(t, e.objects...), cause) {
				got = append(got, brief(r))
			}
			if diff := cmp.Diff(e.want, got); diff != "" {
				t.Errorf("remedies (-want +got):\n%s\ngot:\n%s", diff, strings.Join(got, "\n"))
			}
		})
	}
}

// brief writes a remedy without its notes: where it runs if not on a manager, the command, what it places and where, its
// risk with the number of restarts, and where the same is in a stack's file.
func brief(r analyzer.Remedy) string {
	var text strings.Builder
	if r.At != "" {
		fmt.Fprintf(&text, "at %s: ", r.At)
	}
	fmt.Fprintf(&text, "%s | ", r.Command)
	if r.Verified {
		fmt.Fprintf(&text, "%d on %s", r.Places, strings.Join(r.On, ", "))
	} else {
		text.WriteString("not verified")
	}
	fmt.Fprintf(&text, " | %s", r.Risk)
	if r.Restarts > 0 {
		fmt.Fprintf(&text, " %d", r.Restarts)
	}
	if r.Compose != nil {
		fmt.Fprintf(&text, " | %s: %s", r.Compose.Path, r.Compose.Value)
	}
	return text.String()
}

// list flattens objects and slices of them.
func list(objects ...any) []any { return objects }

// toldToStop are tasks that the managers do not want any more, and that run for all they know.
func toldToStop(tasks []any) []any {
	for _, t := range tasks {
		t.(*api.Task).DesiredState = api.TaskStateShutdown
	}
	return tasks
}
