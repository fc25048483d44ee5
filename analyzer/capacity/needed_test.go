package capacity

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

func TestTheNodesThatWouldPlaceAllThatWaits(t *testing.T) {
	t.Parallel()
	var (
		big    = service("big", 12, reserves(3*gib))
		huge   = service("huge", 1, reserves(20*gib))
		east   = service("east", 2, constrained("node.labels.zone==east"), reserves(5*gib))
		named  = service("named", 1, constrained("node.hostname==node-9"))
		logs   = service("logs", 0, global, reserves(3*gib))
		filler = service("filler", 2, reserves(8*gib))
		ctl    = service("ctl", 1, constrained("node.role==manager"))
		work   = service("work", 1, constrained("node.role==worker"))
	)
	for name, c := range map[string]struct {
		objects []any
		want    []string
	}{
		"two fit on each new node": {
			[]any{node(1), node(2), filler, on(filler, 1, 2), big, waiting(big, 5)},
			[]string{"node-1: 3 nodes for 5 of 5"},
		},
		"what global services put there is reckoned with": {
			[]any{node(1), logs, on(logs, 1), big, waiting(big, 4), service("rest", 1, reserves(5*gib)), on(service("rest", 1, reserves(5*gib)), 1)},
			[]string{"node-1: 4 nodes for 4 of 4"},
		},
		"each kind by itself, by what constraints look at": {
			[]any{node(1, labelled("zone", "east"), labelled("rack", "1")), node(2, labelled("rack", "2")), node(3, labelled("rack", "3")), filler, on(filler, 1, 2, 3), east, waiting(east, 2)},
			[]string{"node-2: 0 nodes for 0 of 2, not east", "node-1: 2 nodes for 2 of 2"},
		},
		"what no number of them would place is named": {
			[]any{node(1), filler, on(filler, 1), big, waiting(big, 2), huge, waiting(huge, 1), named, waiting(named, 1)},
			[]string{"node-1: 1 nodes for 2 of 4, not huge named"},
		},
		"a node like a manager joins as a worker": {
			[]any{node(1, collectortest.Leader, drained), node(2, sized(16*gib)), ctl, waiting(ctl, 1), work, waiting(work, 1)},
			[]string{"node-1: 0 nodes for 0 of 1, not ctl", "node-2: 0 nodes for 0 of 1, not ctl"},
		},
		"a node like the manager takes what only workers do": {
			[]any{node(1, collectortest.Leader), work, waiting(work, 3)},
			[]string{"node-1: 1 nodes for 3 of 3"},
		},
		"managers and workers are of one kind": {
			[]any{node(1, collectortest.Leader), node(2), work, on(work, 2), big, waiting(big, 5)},
			[]string{"node-2: 1 nodes for 1 of 1"},
		},
		"nothing waits": {[]any{node(1), filler, on(filler, 1)}, []string{"node-1: 0 nodes for 0 of 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stateOf(t, c.objects...)
			report, err := Measure(t.Context(), state, diagnoses(state))
			if err != nil || len(report.Bounded) > 0 {
				t.Fatalf("%v, %q", err, report.Bounded)
			}
			var got []string
			for _, n := range report.Needed {
				text := fmt.Sprintf("%s: %d nodes for %d of %d", n.Like, n.Nodes, n.Places, n.Waiting)
				if len(n.Cannot) > 0 {
					text += ", not " + strings.Join(n.Cannot, " ")
				}
				refused := n.Waiting - n.Places
				for _, r := range n.Refused {
					refused -= r.Tasks
				}
				if refused != 0 {
					t.Errorf("nodes like %s: of %d tasks that wait they place %d, and of %d more or fewer it is said why not", n.Like, n.Waiting, n.Places, refused)
				}
				got = append(got, text+n.Unproven)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhyNoNumberOfNodesWouldPlaceSomeIsTold(t *testing.T) {
	t.Parallel()
	var (
		big    = service("big", 2, reserves(3*gib))
		huge   = service("huge", 3, reserves(20*gib))
		named  = service("named", 1, constrained("node.hostname==node-9"))
		ctl    = service("ctl", 1, constrained("node.role==manager"))
		vol    = service("vol", 1, withVolume("rexray"))
		port   = service("port", 1, collectortest.Publishes(80))
		proxy  = service("proxy", 0, global, collectortest.Publishes(80))
		logs   = service("logs", 0, global, reserves(7*gib))
		filler = service("filler", 1, reserves(8*gib))
	)
	own := collectortest.Task(logs, 0, api.TaskStatePending)
	own.NodeID, own.ID = "id1", "logs-on-1"
	state := stateOf(t, node(1), on(filler, 1), proxy, on(proxy, 1), logs, own, filler, big, waiting(big, 2), huge, waiting(huge, 3),
		named, waiting(named, 1), ctl, waiting(ctl, 1), vol, waiting(vol, 1), port, waiting(port, 1))
	report, err := Measure(t.Context(), state, diagnoses(state))
	if err != nil || len(report.Needed) != 1 {
		t.Fatalf("%v, %+v", err, report.Needed)
	}
	var got []string
	for _, r := range report.Needed[0].Refused {
		got = append(got, fmt.Sprintf("%d of %s %s", r.Tasks, strings.Join(r.Services, " "), r.Why))
	}
	want := []string{
		"3 of big port a port or resource that global services take of such a node first",
		"3 of huge a reservation of more memory than such a node has",
		"1 of ctl a constraint on the role manager: a new node joins as a worker",
		"1 of vol a plugin that such a node lacks",
		"1 of named constraints that such a node does not match",
		"1 of logs the one node that a global service's task is for",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASearchThatEndsSaysSo(t *testing.T) {
	t.Parallel()
	big := service("big", 12, reserves(30*gib))
	state := stateOf(t, node(1), big, waiting(big, 5))
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	report, err := Look(over, state, diagnoses(state))
	if err != nil || len(report.Bounded) < 2 || !report.Ended {
		t.Errorf("%v, %q: want every search that was cut short", err, report.Bounded)
	}
}

func TestLeastFindsTheFirstThatIsEnough(t *testing.T) {
	t.Parallel()
	for most := 1; most <= 20; most++ {
		for first := 1; first <= most+1; first++ {
			tries := 0
			got, err := least(most, func(n int) (bool, error) { tries++; return n >= first, nil })
			if err != nil || got != first || tries > 11 {
				t.Errorf("of %d the first is %d, found %d in %d tries, %v", most, first, got, tries, err)
			}
		}
	}
}
