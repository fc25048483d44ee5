package capacity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/collector"
)

func TestWhatWouldHelpMostIsRanked(t *testing.T) {
	t.Parallel()
	var (
		web     = service("web", 3, constrained("node.labels.zone==east"))
		api1    = service("api", 2, constrained("node.labels.zone==east"))
		big     = service("big", 2, reserves(6*gib))
		vol     = service("vol", 1, withVolume("rexray"))
		vol2    = service("vol2", 1, withVolume("rexray"))
		cron    = service("cron", 1, constrained("node.labels.cron==yes", "node.labels.zone==west"))
		logs    = service("logs", 0, global, reserves(4*gib))
		onEast  = service("on-east", 0, global, constrained("node.labels.zone==east"))
		notEast = service("not-east", 1, constrained("node.labels.zone!=east"))
		filler  = service("filler", 2, reserves(4*gib))
	)
	for name, c := range map[string]struct {
		objects []any
		want    []string
	}{
		"a drained node that several services wait for": {
			[]any{node(1), node(2, drained, labelled("zone", "east")), web, waiting(web, 3), api1, waiting(api1, 2)},
			[]string{"activate node-2: 2 services, 5 tasks", "label zone=east on node-1: 2 services, 5 tasks", "one more worker like node-2: 2 services, 5 tasks"},
		},
		"a node that does not answer": {
			[]any{node(1, sized(gib)), node(2, down), big, waiting(big, 2)},
			[]string{"bring back node-2: 1 services, 1 tasks", "one more worker like node-2: 1 services, 1 tasks"},
		},
		"a node that does not answer, with what ran there": {
			[]any{node(1, sized(gib)), node(2, down), big, toldToStop(on(big, 2)), waiting(big, 2)},
			[]string{"bring back node-2: 1 services, 1 tasks", "one more worker like node-2: 1 services, 1 tasks"},
		},
		"a plugin that no node has": {
			[]any{node(1), node(2), vol, waiting(vol, 1), vol2, waiting(vol2, 1)},
			[]string{"volume plugin rexray on node-1: 2 services, 2 tasks", "volume plugin rexray on node-2: 2 services, 2 tasks"},
		},
		"two labels are no single change": {
			[]any{node(1), cron, waiting(cron, 1)}, nil,
		},
		"what global services put on a new node is not there for others": {
			[]any{node(1), logs, on(logs, 1), big, waiting(big, 2)}, nil,
		},
		"a global service without any task gets one": {
			[]any{node(1), onEast},
			[]string{"label zone=east on node-1: 1 services, 1 tasks"},
		},
		"a label that would drive a task away": {
			[]any{node(1), web, waiting(web, 1), notEast, on(notEast, 1)}, nil,
		},
		"nothing is stuck": {[]any{node(1), filler, on(filler, 1, 1)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, ranked(t, stateOf(t, c.objects...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// ranked are the changes with what each places, the best first.
func ranked(t *testing.T, state *collector.State) []string {
	t.Helper()
	ranking, err := Rank(t.Context(), state, diagnoses(state))
	if err != nil || ranking.Ended {
		t.Fatalf("%v, ended %t", err, ranking.Ended)
	}
	var changes []string
	for _, c := range ranking.Changes {
		changes = append(changes, fmt.Sprintf("%s: %d services, %d tasks", c.What, c.Services, c.Tasks))
	}
	return changes
}

func TestAChangeIsACommand(t *testing.T) {
	t.Parallel()
	web, vol := service("web", 1, constrained("node.labels.zone==east")), service("vol", 1, withVolume("rexray"))
	state := stateOf(t, node(1), node(2, drained, labelled("zone", "east")), node(3, down, labelled("zone", "east")), web, waiting(web, 1), vol, waiting(vol, 1))
	ranking, err := Rank(t.Context(), state, diagnoses(state))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range ranking.Changes {
		got[c.What] = c.At + "$ " + c.Command
		if strings.HasPrefix(c.Note, "not proven") {
			got[c.What] += " (not proven)"
		}
	}
	want := map[string]string{
		"activate node-2":                "$ docker node update --availability active node-2",
		"bring back node-3":              "node-3$ systemctl start docker (not proven)",
		"label zone=east on node-1":      "$ docker node update --label-add 'zone=east' node-1",
		"volume plugin rexray on node-1": "node-1$ docker plugin install rexray (not proven)",
		"one more worker like node-2":    "$ ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARankingSaysThatTheTimeWasUp(t *testing.T) {
	t.Parallel()
	web := service("web", 1, constrained("node.labels.zone==east"))
	state := stateOf(t, node(1), web, waiting(web, 1))
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if ranking, err := Rank(over, state, diagnoses(state)); err != nil || !ranking.Ended || ranking.Services != 1 {
		t.Errorf("%+v, %v: it does not say so", ranking, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rank(cancelled, state, diagnoses(state)); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was cancelled gives %v", err)
	}
}
