package remedy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

// seat is a service whose tasks may be on two of four nodes only.
func seat(name string, replicas uint64, memory int64, on ...string) *api.Service {
	return service(name, replicas, reserves(memory, 0), func(s *api.ServiceSpec) {
		for _, other := range []string{"node-1", "node-2", "node-3", "node-4"} {
			if !slices.Contains(on, other) {
				s.Task.Placement.Constraints = append(s.Task.Placement.Constraints, "node.hostname!="+other)
			}
		}
	})
}

// away is what moves the tasks of services off the first node.
func away(services ...string) string {
	var commands []string
	for _, flag := range []string{"--constraint-add", "--constraint-rm"} {
		for _, name := range services {
			commands = append(commands, fmt.Sprintf("docker service update %s 'node.id!=id1' %s", flag, name))
		}
	}
	return strings.Join(commands, " && ")
}

func TestTheSmallestMoveFreesANode(t *testing.T) {
	t.Parallel()
	const tried = "no move of running tasks that was tried frees a node"
	asks := func(memory int64) []any {
		web := service("web", 1, reserves(memory, 0))
		return append(list(web), waiting(web, 1, 1)...)
	}
	a, b, c := seat("a", 1, 5*gib, "node-1", "node-2"), seat("b", 1, 5*gib, "node-1", "node-3"), seat("c", 1, 3*gib, "node-1", "node-2", "node-3")
	two, apart, stays := seat("two", 2, 5*gib, "node-1", "node-2"), seat("apart", 2, 5*gib, "node-1", "node-2", "node-3"), seat("stays", 1, 4*gib, "node-1")
	small, tied := seat("small", 3, 2*gib, "node-1", "node-2"), seat("web", 1, 8*gib, "node-1")
	port := service("port", 1, publishes(80), constrained("node.hostname!=node-3"))
	both := service("web", 1, reserves(12*gib, 0), publishes(80))
	for _, test := range []struct {
		name    string
		objects []any
		want    string // the move; none where it is empty
		notes   []string
	}{
		{name: "where each of two services has to leave, both are moved together",
			objects: list(asks(12*gib), a, on(a, 1), b, on(b, 1)), want: away("a", "b") + " | 1 on node-1 | outage 2"},
		{name: "where each of three services has to leave, all are moved together",
			objects: list(asks(15*gib), a, on(a, 1), b, on(b, 1), c, on(c, 1)), want: away("a", "b", "c") + " | 1 on node-1 | outage 3"},
		{name: "what needs not leave stays",
			objects: list(asks(12*gib), a, on(a, 1), b, on(b, 1), c, on(c, 1)), want: away("a", "b") + " | 1 on node-1 | outage 2"},
		{name: "where one service does it no two are moved",
			objects: list(asks(12*gib), a, on(a, 1), c, on(c, 1)), want: away("a") + " | 1 on node-1 | outage 1"},
		{name: "two tasks of two services are moved rather than three of one",
			objects: list(tied, waiting(tied, 1, 1), a, on(a, 1), c, on(c, 1), small, on(small, 1, 1, 1)), want: away("a", "c") + " | 1 on node-1 | outage 2"},
		{name: "memory and a port that different services hold are freed together",
			objects: list(both, waiting(both, 1, 1), a, on(a, 1), port, on(port, 1)), want: away("a", "port") + " | 1 on node-1 | outage 2"},
		{name: "both tasks of a service leave where both find room",
			objects: list(asks(9*gib), apart, on(apart, 1, 1)), want: away("apart") + " | 1 on node-1 | outage 2"},
		{name: "where one of two tasks finds room, it is said that this one would do and no command moves it",
			objects: list(asks(9*gib), two, on(two, 1, 1)),
			notes:   []string{tried + "; 1 of the 2 tasks of two moved from node-1 to node-2 would, which Swarm does not do by itself, and a constraint moves all of them"}},
		{name: "where nothing finds room elsewhere it is said that no move was found",
			objects: list(asks(13*gib), stays, on(stays, 1)), notes: []string{tried}},
		{name: "where one member of a set finds no room it is said that no move was found",
			objects: list(asks(14*gib), stays, on(stays, 1), a, on(a, 1)), notes: []string{tried}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			state := stateOf(t, slices.Concat(list(node(1, memoryOf(16*gib)), node(2), node(3)), test.objects)...)
			d := diagnosedOf(t, state, "web")
			found, err := Find(t.Context(), state, d)
			if err != nil {
				t.Fatal(err)
			}
			move := ""
			for _, r := range found.Remedies {
				if strings.Contains(r.Command, "node.id!=") {
					move = brief(r)
				}
			}
			if move != test.want {
				t.Errorf("the move is\n%s\nwant\n%s", move, test.want)
			}
			if diff := cmp.Diff(test.notes, found.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatMovesIsSaidOfEachService(t *testing.T) {
	t.Parallel()
	a, b := service("a", 3, reserves(5*gib, 0)), service("b", 1, reserves(5*gib, 0))
	web := service("web", 1, reserves(12*gib, 0), constrained("node.hostname==node-1"))
	wide := memoryOf(16 * gib)
	state := stateOf(t, node(1, wide), node(2, wide), node(3, wide), a, on(a, 1, 2, 3), b, on(b, 1), web, waiting(web, 1, 1))
	r := withCommand(t, remediesOf(t, state, "insufficient-memory"), away("a", "b"))
	for _, want := range []string{
		"only the tasks of a, b on node-1 restart; each command waits for the one before, and the last 2 move nothing",
		"moves a task of a (a.1.running) from node-1 to node-", "moves a task of b (b.1.running) from node-1 to node-",
	} {
		if !strings.Contains(r.Note, want) {
			t.Errorf("the note lacks %q: %s", want, r.Note)
		}
	}
}

func TestAMoveOfOneOfManyIsNoOutageOfTheOthers(t *testing.T) {
	t.Parallel()
	a, b := service("a", 2, reserves(5*gib, 0)), service("b", 2, reserves(5*gib, 0))
	web := service("web", 1, reserves(12*gib, 0), constrained("node.hostname==node-1"))
	wide := memoryOf(16 * gib)
	state := stateOf(t, node(1, wide), node(2, wide), node(3, wide), a, on(a, 1, 2), b, on(b, 1, 3), web, waiting(web, 1, 1))
	if got, want := brief(withCommand(t, remediesOf(t, state, "insufficient-memory"), away("a", "b"))), away("a", "b")+" | 1 on node-1 | restarts 2"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMovesThatWereNotTriedAreSaid(t *testing.T) {
	t.Parallel()
	web := service("web", 1, reserves(9*gib, 0), constrained("node.labels.seats==yes"))
	spare := node(1) // has room for one of each pair
	objects := list(spare, web, waiting(web, 1, 1))
	for i := range tries + 1 {
		name := fmt.Sprintf("pair-%d", i)
		pair := service(name, 2, reserves(5*gib, 0), constrained("node.labels."+name+"==yes"))
		labelled(name, "yes")(spare)
		objects = append(objects, node(i+2, memoryOf(16*gib), labelled("seats", "yes"), labelled(name, "yes")), pair, on(pair, i+2, i+2))
	}
	state := stateOf(t, objects...)
	found, err := Find(t.Context(), state, diagnosedOf(t, state, "web"))
	want := "no move of running tasks that was tried frees a node, and not all were tried"
	if err != nil || len(found.Notes) != 1 || !strings.HasPrefix(found.Notes[0], want) {
		t.Errorf("notes %q (%v): want one that begins with %q", found.Notes, err, want)
	}
}

func TestNothingIsSaidOfMovesWhereTheResourceIsNotFragmented(t *testing.T) {
	t.Parallel()
	web := service("web", 1, reserves(12*gib, 0))
	state := stateOf(t, node(1), web, waiting(web, 1, 1))
	found, err := Find(t.Context(), state, diagnosedOf(t, state, "web"))
	if err != nil || len(found.Notes) > 0 {
		t.Errorf("notes %q (%v)", found.Notes, err)
	}
}

func TestWhatIsBeingUpdatedDoesNotMove(t *testing.T) {
	t.Parallel()
	status := func(state api.UpdateStatus_UpdateState) *api.UpdateStatus { return &api.UpdateStatus{State: state} }
	for _, test := range []struct {
		name    string
		status  *api.UpdateStatus
		isDirty bool // the tasks are of another image than the spec
		waits   bool // one more task waits
		moves   bool
	}{
		{name: "a service that was never updated moves", moves: true},
		{name: "one whose update completed moves", status: status(api.UpdateStatus_COMPLETED), moves: true},
		{name: "one whose update is paused stays", status: status(api.UpdateStatus_PAUSED)},
		{name: "one that is being updated stays", status: status(api.UpdateStatus_UPDATING)},
		{name: "one that is rolled back stays", status: status(api.UpdateStatus_ROLLBACK_STARTED)},
		{name: "one whose rollback is paused stays", status: status(api.UpdateStatus_ROLLBACK_PAUSED)},
		{name: "one whose tasks the update would replace anyway stays", isDirty: true},
		{name: "one of which a task waits stays", waits: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			holder, web := service("holder", 3, reserves(2*gib, 0)), service("web", 1, reserves(7*gib, 0))
			tasks := on(holder, 1, 2, 3)
			if test.isDirty {
				holder.Spec = *holder.Spec.Copy()
				holder.Spec.Task.GetContainer().Image = "broken:2"
				holder.SpecVersion = &api.Version{Index: 9}
			}
			if test.waits {
				tasks = append(tasks, waiting(holder, 4, 1)...)
			}
			holder.UpdateStatus = test.status
			state := stateOf(t, node(1), node(2), node(3), holder, tasks, web, waiting(web, 1, 1))
			found, err := Find(t.Context(), state, diagnosedOf(t, state, "web"))
			if err != nil {
				t.Fatal(err)
			}
			moves := false
			for _, r := range found.Remedies {
				moves = moves || strings.HasSuffix(r.Command, " holder")
				if strings.HasSuffix(r.Command, " holder") && r.Restarts != 1 {
					t.Errorf("%d tasks restart, want the one on the node", r.Restarts)
				}
			}
			if moves != test.moves {
				t.Errorf("a remedy updates the holder: %t, want %t", moves, test.moves)
			}
		})
	}
}

func TestAPausedUpdateIsSaidToResume(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state api.UpdateStatus_UpdateState
		want  string
	}{
		{api.UpdateStatus_PAUSED, "the update of web is paused: this command resumes it"},
		{api.UpdateStatus_ROLLBACK_PAUSED, "the rollback of web is paused: this command resumes it"},
		{api.UpdateStatus_COMPLETED, ""},
	} {
		t.Run(test.state.String(), func(t *testing.T) {
			t.Parallel()
			web := service("web", 1, reserves(12*gib, 0))
			web.UpdateStatus = &api.UpdateStatus{State: test.state}
			remedies := remediesOf(t, stateOf(t, node(1), node(2, drained, memoryOf(16*gib)), web, waiting(web, 1, 1)), "insufficient-memory")
			r := withCommand(t, remedies, "docker service update --reserve-memory 8GiB web")
			if told := strings.Contains(r.Note, "resumes"); told != (test.want != "") || !strings.Contains(r.Note, test.want) {
				t.Errorf("the note is %q, want %q in it", r.Note, test.want)
			}
			if r := withCommand(t, remedies, "docker node update --availability active node-2"); strings.Contains(r.Note, "resumes") {
				t.Errorf("an update of a node resumes none: %q", r.Note)
			}
		})
	}
}

// One service has a choice of node-1 and node-3, one of node-1 and node-4, one of node-3 and node-4, each with room for one: it
// depends on what the first two take whether the third finds a place.
func TestAMoveThatOnlySomeChoicesOfTheSchedulerAllowIsNoneThatIsProven(t *testing.T) {
	t.Parallel()
	objects := list(node(1, memoryOf(16*gib)), node(2, memoryOf(16*gib)), node(3, memoryOf(16*gib)), node(4, memoryOf(16*gib)))
	filler, web := service("filler", 3, reserves(11*gib, 0)), service("web", 1, reserves(16*gib, 0))
	objects = append(objects, list(filler, on(filler, 1, 3, 4), web, waiting(web, 1, 1))...)
	for name, besides := range map[string]string{"a": "node-4", "b": "node-3", "c": "node-1"} {
		s := service(name, 1, reserves(5*gib, 0), constrained("node.hostname!="+besides))
		objects = append(objects, list(s, on(s, 2))...)
	}
	for _, r := range remediesOf(t, stateOf(t, objects...), "insufficient-memory") {
		if strings.Contains(r.Command, "--constraint-add") {
			t.Errorf("%s is called proven: %t", r.Command, r.Verified)
		}
	}
}
