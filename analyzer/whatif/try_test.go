package whatif

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"

	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// tried is a change of a swarm with one service on two nodes of 8 GiB.
type tried struct {
	service *api.Service
	on      []string
	change  func(*api.Service) Change
	want    brief
}

func checkTried(t *testing.T, cases map[string]tried) {
	t.Helper()
	a, b := node("a", 8), node("b", 8)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome := try(t, c.change(c.service), running(c.service, c.on...), a, b, c.service)
			if diff := cmp.Diff(c.want, briefly(outcome)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTasksGoWhereAChangeOfTheirServiceLeavesRoom(t *testing.T) {
	t.Parallel()
	checkTried(t, map[string]tried{
		"more replicas go where there is room, and the rest waits": {
			service("web", 2, 3), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, false, scaled(6)) },
			brief{Wanted: 6, Running: 4, Waits: 2, On: map[string]int{"a": 2, "b": 2}, Cause: "insufficient-memory"},
		},
		"fewer replicas leave the fullest node": {
			service("web", 3, 1), []string{"a", "b", "b"},
			func(s *api.Service) Change { return updated(s, false, scaled(2)) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}, Displaced: "1 of web on b: scaled down;"},
		},
		"another constraint moves only what it excludes": {
			service("web", 2, 1), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, false, constrained("node.labels.id==a")) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 2, "b": 0}, Done: 1, Steps: 1},
		},
		"a spec that fits now places what waited": {
			service("web", 1, 9), []string{""},
			func(s *api.Service) Change {
				return updated(s, true, reserves(8), constrained("node.labels.id==a")) // or the scheduler takes either
			},
			brief{All: true, Wanted: 1, Running: 1, On: map[string]int{"a": 1}, Done: 1, Steps: 1},
		},
		"a removed service leaves": {
			service("web", 1, 1), []string{"a"},
			func(s *api.Service) Change { return Change{Removed: []string{s.ID}} },
			brief{All: true, On: map[string]int{"a": 0}, Displaced: "1 of web on a: service removed;"},
		},
		"nothing changes": {
			service("web", 2, 5), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, false, same) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}},
		},
	})
}

func TestAnUpdateGoesOnAsLongAsThereIsRoom(t *testing.T) {
	t.Parallel()
	checkTried(t, map[string]tried{
		"stop-first makes its own room": {
			service("web", 2, 7), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_STOP_FIRST, 1)) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}, Done: 2, Steps: 2},
		},
		"start-first needs room for both": {
			service("web", 2, 5), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_START_FIRST, 2)) },
			brief{
				Wanted: 2, Running: 2, Waits: 2, On: map[string]int{"a": 1, "b": 1}, Cause: "insufficient-memory", Steps: 1,
				Need: "2 × 5 memory beside 2 × 5, free 3 ",
			},
		},
		"start-first goes on in the room that its first task leaves": {
			service("web", 2, 4), []string{"a", "a"},
			func(s *api.Service) Change {
				return updated(s, true, order(api.UpdateConfig_START_FIRST, 2), reserves(5))
			},
			brief{
				Wanted: 2, Running: 2, Waits: 1, On: map[string]int{"a": 1, "b": 1}, Cause: "insufficient-memory", Done: 1, Steps: 2,
				Need: "1 × 5 memory beside 1 × 5, 1 × 4, free 4 ",
			},
		},
		"an update stops where the new spec fits nowhere": {
			service("web", 2, 1), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, reserves(9)) },
			brief{
				Wanted: 2, Running: 1, Waits: 1, On: map[string]int{"a": 0, "b": 1}, Cause: "insufficient-memory", Steps: 1,
				Need: "1 × 9 memory beside 1 × 1, free 8 ",
			},
		},
		"an update that begins with what waits has no room from the others": {
			service("web", 3, 7), []string{"a", "b", ""},
			func(s *api.Service) Change { return updated(s, true, reserves(4)) },
			brief{
				Wanted: 3, Running: 2, Waits: 1, On: map[string]int{"a": 1, "b": 1}, Cause: "insufficient-memory", Steps: 1,
				Need: "1 × 4 memory beside 2 × 7, free 1 ",
			},
		},
		"start-first and one replica per node exclude each other": {
			service("web", 2, 1, maxReplicas(1)), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_START_FIRST, 1)) },
			brief{
				Wanted: 2, Running: 2, Waits: 1, On: map[string]int{"a": 1, "b": 1}, Cause: "max-replicas-reached", Steps: 1,
				Need: "1 × 1 replicas beside 2 × 1, free 2 1 per node",
			},
		},
		"start-first and a host-mode port on every node exclude each other": {
			service("web", 2, 1, hostPort), []string{"a", "b"},
			func(s *api.Service) Change { return updated(s, true, order(api.UpdateConfig_START_FIRST, 1)) },
			brief{
				Wanted: 2, Running: 2, Waits: 1, On: map[string]int{"a": 1, "b": 1}, Cause: "host-port-taken", Steps: 1,
				Need: "1 × 0 host-port beside 2 × 0, free 0 8080/tcp",
			},
		},
	})
}

func TestTheOrderOfAnUpdateIsToldWhereItMatters(t *testing.T) {
	t.Parallel()
	const note = "in which order Swarm takes the slots: where those of tasks that wait are not the first, the update may get further"
	for name, test := range map[string]struct {
		on   []string
		asks int64
		want bool
	}{
		"where it stops at one that waits":      {[]string{"a", "b", ""}, 4, true},
		"not where it goes to its end":          {[]string{"a", "b", ""}, 1, false},
		"not where it stops and none waited":    {[]string{"a", "b"}, 9, false},
		"not where all that it replaces waited": {[]string{"", ""}, 9, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := service("web", uint64(len(test.on)), 7)
			told := slices.Contains(try(t, updated(s, true, reserves(test.asks)), running(s, test.on...), s, node("a", 8), node("b", 8)).Unchecked, note)
			if told != test.want {
				t.Errorf("the order is told: %t, want %t", told, test.want)
			}
		})
	}
}

func TestAnUpdateMakesAnewWhatWaitsAndIsNotAsItsSpecSays(t *testing.T) {
	t.Parallel()
	former := func(s *api.Service, nodes ...string) []any {
		tasks := running(s, nodes...)
		last := tasks[len(tasks)-1].(*api.Task)
		last.Spec = *s.Spec.Task.Copy()
		last.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 9 * gib}}
		last.SpecVersion = &api.Version{Index: 1}
		return tasks
	}
	onPort := service("web", 3, 1, hostPort)
	onFormer := service("web", 3, 1)
	for name, test := range map[string]struct {
		service *api.Service
		tasks   []any
		change  Change
		want    brief
	}{
		"a port that is given up": {
			onPort, running(onPort, "a", "b", ""), updated(onPort, false, func(s *api.ServiceSpec) { s.Endpoint = &api.EndpointSpec{} }),
			brief{All: true, Wanted: 3, Running: 3, On: map[string]int{"a": 1, "b": 2}, Done: 3, Steps: 3},
		},
		"a former spec, where nothing is changed": {
			onFormer, former(onFormer, "a", "b", ""), updated(onFormer, false, same),
			brief{All: true, Wanted: 3, Running: 3, On: map[string]int{"a": 1, "b": 2}, Done: 1, Steps: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := briefly(try(t, test.change, test.tasks, test.service, node("a", 1), node("b", 8)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARollbackIsDoneAsTheSettingsForRollbacksSay(t *testing.T) {
	t.Parallel()
	back := func(edits ...func(*api.ServiceSpec)) func(*api.Service) Change {
		return func(s *api.Service) Change {
			change := updated(s, false, append([]func(*api.ServiceSpec){reserves(5)}, edits...)...)
			change.Services[0].Rollback = true
			return change
		}
	}
	rollbackOrder := func(order api.UpdateConfig_UpdateOrder, parallelism uint64) func(*api.ServiceSpec) {
		return func(s *api.ServiceSpec) { s.Rollback = &api.UpdateConfig{Order: order, Parallelism: parallelism} }
	}
	checkTried(t, map[string]tried{
		"start-first with parallelism 2 needs room for both, however updates are done": {
			service("web", 2, 6, order(api.UpdateConfig_STOP_FIRST, 1)), []string{"a", "b"},
			back(rollbackOrder(api.UpdateConfig_START_FIRST, 2)),
			brief{
				Wanted: 2, Running: 2, Waits: 2, On: map[string]int{"a": 1, "b": 1}, Cause: "insufficient-memory", Steps: 1,
				Need: "2 × 5 memory beside 2 × 6, free 2 ",
			},
		},
		"stop-first makes its own room, also where updates start first": {
			service("web", 2, 6, order(api.UpdateConfig_START_FIRST, 2)), []string{"a", "b"},
			back(rollbackOrder(api.UpdateConfig_STOP_FIRST, 1)),
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}, Done: 2, Steps: 2},
		},
		"one at a time where nothing is set": {
			service("web", 2, 6, order(api.UpdateConfig_START_FIRST, 2)), []string{"a", "b"}, back(),
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}, Done: 2, Steps: 2},
		},
	})
}

func TestARollbackOfHalfAnUpdateLeavesWhatTheUpdateDidNotReach(t *testing.T) {
	t.Parallel()
	web := service("web", 2, 6)
	tasks := running(web, "a", "b")
	former := tasks[1].(*api.Task)
	former.Spec = *web.Spec.Task.Copy()
	former.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 5 * gib}}
	former.SpecVersion = &api.Version{Index: 1}
	web.PreviousSpecVersion = former.SpecVersion
	change := updated(web, false, reserves(5))
	change.Services[0].Rollback = true
	want := brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "b": 1}, Done: 1, Steps: 1}
	if diff := cmp.Diff(want, briefly(try(t, change, tasks, web, node("a", 8), node("b", 8)))); diff != "" {
		t.Error(diff)
	}
}

func TestWhatStopsAnUpdateIsOnlyWhatIsNotThere(t *testing.T) {
	t.Parallel()
	gpus := func(s *api.ServiceSpec) {
		s.Task.Resources.Reservations.Generic = []*api.GenericResource{genericresource.NewDiscrete("gpu", 1)}
	}
	web := service("web", 3, 1)
	for name, test := range map[string]struct {
		edits []func(*api.ServiceSpec)
		want  string
	}{
		"one of those that run holds the only one": {
			[]func(*api.ServiceSpec){gpus}, "1 × 1 generic:gpu beside 1 × 1, free 0 ",
		},
		"one constraint that no node meets": {
			[]func(*api.ServiceSpec){constrained("node.labels.id==a", "node.labels.nope==1")},
			"1 × 0 constraint beside 2 × 0, free 0 node.labels.nope==1",
		},
		"constraints that no node meets together": {
			[]func(*api.ServiceSpec){constrained("node.labels.id==a", "node.labels.id==b")},
			"1 × 0 constraint beside 2 × 0, free 0 node.labels.id==a and node.labels.id==b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := node("a", 8)
			a.Description.Resources.Generic = []*api.GenericResource{genericresource.NewDiscrete("gpu", 1)}
			outcome := try(t, updated(web, true, test.edits...), running(web, "a", "b", "b"), web, a, node("b", 8))
			if got := briefly(outcome).Need; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTasksFollowAChangeOfNodes(t *testing.T) {
	t.Parallel()
	checkTried(t, map[string]tried{
		"a drained node's tasks find room elsewhere": {
			service("web", 2, 3), []string{"a", "b"},
			func(*api.Service) Change { return with(node("b", 8, drained)) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 2, "b": 0}, Displaced: "1 of web on b: drained;"},
		},
		"a drained node's tasks find no room": {
			service("web", 2, 5), []string{"a", "b"},
			func(*api.Service) Change { return with(node("b", 8, drained)) },
			brief{
				Wanted: 2, Running: 1, Waits: 1, On: map[string]int{"a": 1, "b": 0}, Cause: "insufficient-memory", Displaced: "1 of web on b: drained;",
			},
		},
		"a drained node's global task ends, and none is missing": {
			service("web", 0, 1, global), []string{"a", "b"},
			func(*api.Service) Change { return with(node("b", 8, drained)) },
			brief{All: true, Wanted: 1, Running: 1, On: map[string]int{"a": 1, "b": 0}, Displaced: "1 of web on b: drained;"},
		},
		"one more node takes what waits": {
			service("web", 3, 5), []string{"a", "b", ""},
			func(*api.Service) Change { return with(node("c", 8)) },
			brief{All: true, Wanted: 3, Running: 3, On: map[string]int{"a": 1, "b": 1, "c": 1}},
		},
		"one more node gets its task of a global service": {
			service("web", 0, 1, global), []string{"a", "b"},
			func(*api.Service) Change { return with(node("c", 8)) },
			brief{All: true, Wanted: 3, Running: 3, On: map[string]int{"a": 1, "b": 1, "c": 1}},
		},
	})
}

func TestALongUpdateIsFollowedOnlySoFar(t *testing.T) {
	t.Parallel()
	s := service("web", mostSteps+1, 0)
	var on []string
	for range mostSteps + 1 {
		on = append(on, "a")
	}
	outcome := try(t, updated(s, true, same), running(s, on...), node("a", 8), s)
	if u := outcome.Services[0].Update; !u.Capped || len(u.Steps) != mostSteps || outcome.PlacesAll || u.Stops() {
		t.Errorf("%d steps, capped %t, stops %t, places all %t", len(u.Steps), u.Capped, u.Stops(), outcome.PlacesAll)
	}
}

func TestATaskMadeByTheChangeIsYoungerThanOneThatWasMadeJustBefore(t *testing.T) {
	t.Parallel()
	s := service("web", 1, 5)
	tasks := running(s, "a")
	tasks[0].(*api.Task).ID = "zzz" // of the same age it would come last
	tasks[0].(*api.Task).Meta.CreatedAt = collectortest.Stamp(start)
	outcome := try(t, updated(s, true, order(api.UpdateConfig_START_FIRST, 1)), tasks, node("a", 8), s)
	want := brief{
		Wanted: 1, Running: 1, Waits: 1, On: map[string]int{"a": 1}, Cause: "insufficient-memory", Steps: 1,
		Need: "1 × 5 memory beside 1 × 5, free 3 ",
	}
	if diff := cmp.Diff(want, briefly(outcome)); diff != "" {
		t.Error(diff)
	}
}
