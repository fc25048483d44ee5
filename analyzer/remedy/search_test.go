package remedy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// threeReasons is a service that takes three changes on the only node.
func threeReasons() []any {
	web := service("web", 1, reserves(16*gib, 0), constrained("node.labels.env==prod"))
	return list(node(1, drained), web, waiting(web, 1, 1))
}

func TestASetIsAsSmallAsCanBe(t *testing.T) {
	t.Parallel()
	state := stateOf(t, threeReasons()...)
	remedies := remediesOf(t, state, "placement-constraint")
	want := []string{"docker node update --availability active --label-add 'env=prod' node-1 && docker service update --reserve-memory 8GiB web | 1 on node-1 | none"}
	var got []string
	for _, r := range remedies {
		got = append(got, brief(r))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("remedies (-want +got):\n%s", diff)
	}
	s := &search{trial: newTrial(state, diagnosed(t, state, "placement-constraint")), tried: map[string]*analyzer.Remedy{}}
	s.subject = newSubject(state, s.trial.cluster, diagnosed(t, state, "placement-constraint"))
	sets, _ := s.subject.sets()
	set := sets[0]
	for i := range set {
		if r, err := s.prove(t.Context(), combine(slices.Delete(slices.Clone(set), i, i+1))); err != nil || r != nil {
			t.Errorf("without %s it works as well (%v)", line(set[i].commands), err)
		}
	}
	idle := proposal{commands: []command{{verb: "docker node update", flags: []string{"--label-add colour=blue"}, object: "node-1"}}, change: func(*Draft) {}}
	r, _, err := s.minimal(t.Context(), append(slices.Clone(set), idle), 0)
	if err != nil || r == nil || strings.Contains(r.Command, "colour") {
		t.Errorf("a member that does nothing was left in: %v (%v)", r, err)
	}
}

func TestTheSearchEndsWithItsTime(t *testing.T) {
	t.Parallel()
	state := stateOf(t, threeReasons()...)
	d := diagnosed(t, state, "placement-constraint")
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	found, err := Find(ctx, state, d)
	if err != nil || !found.Ended || found.Remedies == nil {
		t.Errorf("at the deadline the search returns %+v, %v: want what it found and that it ended", found, err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(cancelled, state, d); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, the search returns %v", err)
	}
}

func TestRemediesAreInTheOrderToTryThem(t *testing.T) {
	t.Parallel()
	remedies := []analyzer.Remedy{
		{Command: "unproven", Risk: analyzer.NoRisk},
		{Command: "outage", Verified: true, Places: 4, Risk: analyzer.Outage},
		{Command: "restarts many", Verified: true, Places: 2, Risk: analyzer.Restarts, Restarts: 9},
		{Command: "restarts few", Verified: true, Places: 2, Risk: analyzer.Restarts, Restarts: 1},
		{Command: "data", Verified: true, Places: 4, Risk: analyzer.DataRisk},
		{Command: "places one", Verified: true, Places: 1, Risk: analyzer.NoRisk},
		{Command: "places two", Verified: true, Places: 2, Risk: analyzer.NoRisk},
	}
	order(remedies)
	var got []string
	for _, r := range remedies {
		got = append(got, r.Command)
	}
	want := []string{"places two", "places one", "restarts few", "restarts many", "outage", "data", "unproven"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestACauseThatIsNotCertainIsToBeCheckedFirst(t *testing.T) {
	t.Parallel()
	web := service("web", 1, reserves(12*gib, 0))
	state := stateOf(t, node(1), web, waiting(web, 1, 1))
	d := diagnosed(t, state, "insufficient-memory")
	d.Confidence = analyzer.Likely
	found, err := Find(t.Context(), state, d)
	if err != nil || len(found.Remedies) != 1 || !strings.HasPrefix(found.Remedies[0].Note, "check first: ") {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestFindingLeavesTheStateAsItIs(t *testing.T) {
	t.Parallel()
	objects := threeReasons()
	state := stateOf(t, objects...)
	before := stateOf(t, objects...)
	remediesOf(t, state, "placement-constraint")
	for n := range state.Nodes() {
		if diff := cmp.Diff(before.Node(n.ID), n, cmp.Comparer(func(a, b *api.Node) bool { return a.String() == b.String() })); diff != "" {
			t.Errorf("node (-before +after):\n%s", diff)
		}
	}
	for s := range state.Services() {
		if before.Service(s.ID).String() != s.String() {
			t.Errorf("service %s was changed", s.ID)
		}
	}
	for task := range state.Tasks() {
		if before.Task(task.ID).String() != task.String() {
			t.Errorf("task %s was changed", task.ID)
		}
	}
}

func TestAMoveSaysWhatGoesWhere(t *testing.T) {
	t.Parallel()
	web, db := service("web", 1, reserves(6*gib, 0)), service("db", 1, reserves(3*gib, 0), func(s *api.ServiceSpec) {
		s.Task.GetContainer().Mounts = []api.Mount{{Type: api.MountTypeBind, Source: "/srv", Target: "/data"}}
	})
	remedies := remediesOf(t, stateOf(t, node(1), node(2, memoryOf(4*gib)), web, waiting(web, 1, 1), db, on(db, 1)), "insufficient-memory")
	i := slices.IndexFunc(remedies, func(r analyzer.Remedy) bool { return r.Risk == analyzer.DataRisk })
	if i < 0 {
		t.Fatalf("nothing moves: %+v", remedies)
	}
	for _, want := range []string{"moves a task of db (db.1.running) from node-1 to node-2, which Swarm does not do by itself", "what db keeps in /data stays on node-1"} {
		if !strings.Contains(remedies[i].Note, want) {
			t.Errorf("the note lacks %q: %s", want, remedies[i].Note)
		}
	}
}

func TestAnUpdateThatWouldWaitSaysSo(t *testing.T) {
	t.Parallel()
	web := service("web", 3, reserves(6*gib, 0), startFirst)
	remedies := remediesOf(t, stateOf(t, node(1), web, on(web, 1), waiting(web, 2, 1)), "insufficient-memory")
	if len(remedies) != 1 || !strings.Contains(remedies[0].Note, "no room for a new task beside the old ones") {
		t.Errorf("nothing says that the second task finds no room beside the old ones: %+v", remedies)
	}
}
