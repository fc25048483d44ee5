package exporter

import (
	"bytes"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/swarmdiag/swarmdiag/analyzer/capacity"
)

// crowded is a report with everything in it that a table can show.
func crowded() capacity.Report {
	letters := []string{"a", "b", "c", "d", "e", "f"}
	none := []capacity.Refusal{{Why: "constraints that such a node does not match", Services: letters, Tasks: 12}}
	return capacity.Report{
		Ranking: capacity.Ranking{Services: 5, Tasks: 13, Ended: true, Changes: []capacity.Change{
			{What: "activate node-3", Command: "docker node update --availability active node-3", Services: 5, Tasks: 12},
			{What: "bring back node-4", Command: "systemctl start docker", At: "node-4", Services: 2, Tasks: 4,
				Note: "not proven that this brings it back: only what it would take then"},
			{What: "label zone=east on node-1", Command: "docker node update --label-add 'zone=east' node-1", Services: 2, Tasks: 3, Note: "only if it is true of node-1"},
			{What: "one more worker like node-1", Services: 1, Tasks: 1},
		}},
		Needed: []capacity.Need{
			{Like: "node-1", Nodes: 3, Places: 12, Waiting: 12},
			{Like: "node-2", Waiting: 12, Cannot: letters, Refused: none},
			{Like: "gone", Nodes: 1000, Places: 11, Waiting: 12, Cannot: []string{"api"}, Unproven: "not even 1000 nodes place all of them",
				Refused: []capacity.Refusal{{Why: "a plugin that such a node lacks", Services: []string{"api"}, Tasks: 1}}},
			{Like: "node-5", Waiting: 12, Cannot: letters, Refused: none},
		},
		Headroom: []capacity.Headroom{
			{Service: "web", Replicas: 4, Proven: true},
			{Service: "cache", Replicas: 1000, AtLeast: true, Proven: true},
			{Service: "db"},
		},
		Bounded: []string{"the time was up before all headroom was proven: the rest is counted"},
	}
}

func TestCapacityIsAsPeopleReadIt(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]capacity.Report{"capacity.txt": crowded(), "capacity.nothing.txt": {}} {
		var out bytes.Buffer
		if err := CapacityText(&out, report); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
	}
}

func TestWhatFitsIsSaidInTheNumberItHas(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"Of the 1 task that is stuck, 1 fits as things are.":   fitting(1, 1),
		"Of the 3 tasks that are stuck, 1 fits as things are.": fitting(3, 1),
		"Of the 3 tasks that are stuck, 2 fit as things are.":  fitting(3, 2),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestARankingIsForSeveralServices(t *testing.T) {
	t.Parallel()
	several, one, none := crowded().Ranking, crowded().Ranking, crowded().Ranking
	one.Services, none.Changes, none.Ended = 1, nil, false
	for name, c := range map[string]struct {
		ranking capacity.Ranking
		says    bool
	}{"five services": {several, true}, "one service": {one, false}, "nothing helps": {none, false}} {
		var out bytes.Buffer
		if err := RankingText(&out, c.ranking); err != nil {
			t.Fatal(err)
		}
		if says := out.Len() > 0; says != c.says {
			t.Errorf("%s: it writes %q", name, out.String())
		}
	}
}

func TestMetricsOfCapacity(t *testing.T) {
	t.Parallel()
	s := newSwarm(t)
	s.put(service("db"), service("cache"))
	m := speaking(s)
	m.Capacity(crowded())
	want := `
# HELP swarmdiag_nodes_needed How many more nodes like this one, joined as workers, would place all waiting tasks that such nodes can take; 0 where none waits, absent where no number of them would place any. Found at most every 30 seconds.
# TYPE swarmdiag_nodes_needed gauge
swarmdiag_nodes_needed{like="node-1"} 3
# HELP swarmdiag_service_headroom_replicas How many more replicas of a replicated service fit on the nodes as they are; at most 1000 are looked for. Counted at most every 30 seconds.
# TYPE swarmdiag_service_headroom_replicas gauge
swarmdiag_service_headroom_replicas{service="cache"} 1000
swarmdiag_service_headroom_replicas{service="db"} 0
swarmdiag_service_headroom_replicas{service="web"} 4
`
	names := []string{"swarmdiag_nodes_needed", "swarmdiag_service_headroom_replicas"}
	if err := testutil.CollectAndCompare(m, bytes.NewBufferString(want), names...); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(m, names...); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	s.remove(&api.Service{ID: "db"}, &api.Service{ID: "cache"}, &api.Service{ID: "web"}, &api.Node{ID: "id-of-node-1"})
	if n := testutil.CollectAndCount(m, names...); n != 0 {
		t.Errorf("%d series of what is gone", n)
	}
}
