package whatif

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// fate is what becomes of a service's slots.
type fate struct {
	All                                    bool
	Wanted, Running, Waits, Complete, Lost int
	Replaced                               int
}

func fateOf(o Outcome) fate {
	f := fate{All: o.PlacesAll}
	for _, s := range o.Services {
		f.Wanted, f.Running, f.Waits = f.Wanted+s.Wanted, f.Running+s.Running, f.Waits+s.Waiting
		f.Complete, f.Lost = f.Complete+s.Complete, f.Lost+s.Lost
		if s.Update != nil {
			f.Replaced += s.Update.Done
		}
	}
	return f
}

// slots is a change of a swarm in which a service has a slot on each of two nodes.
type slots struct {
	service *api.Service
	ended   api.TaskState // that of the task on b; it runs where this is 0
	change  func(*api.Service) Change
	want    fate
}

// checkSlots also sees that there is nothing to say of a slot that stays empty.
func checkSlots(t *testing.T, cases map[string]slots) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks := running(c.service, "a", "b")
			if c.ended != 0 {
				tasks = endedOn(tasks, 1, c.ended)
			}
			outcome := try(t, c.change(c.service), tasks, c.service, node("a", 8), node("b", 8))
			if diff := cmp.Diff(c.want, fateOf(outcome)); diff != "" {
				t.Error(diff)
			}
			if len(outcome.Diagnoses) > 0 {
				t.Errorf("nothing waits, and still: %+v", outcome.Diagnoses)
			}
		})
	}
}

// never and onFailure are restart policies.
var never, onFailure = restarts(api.RestartOnNone, 0), restarts(api.RestartOnFailure, 0)

func TestATaskThatLosesItsNodeIsFollowedOnlyIfItsRestartPolicyAllows(t *testing.T) {
	t.Parallel()
	drainB := with(node("b", 8, drained))
	checkSlots(t, map[string]slots{
		"a drained node's task is lost with condition none": {
			service("web", 2, 1, never), 0, func(*api.Service) Change { return drainB },
			fate{Wanted: 2, Running: 1, Lost: 1},
		},
		"a drained node's task is made anew with condition on-failure": {
			service("web", 2, 1, onFailure), 0, func(*api.Service) Change { return drainB },
			fate{All: true, Wanted: 2, Running: 2},
		},
		"a task that a label drives away is lost with condition none": {
			service("web", 2, 1, never, except("gone")), 0,
			func(*api.Service) Change { return with(node("b", 8, labelled("id", "gone"))) },
			fate{Wanted: 2, Running: 1, Lost: 1},
		},
		"a drained node's global task is not missing with condition none": {
			service("web", 0, 1, never, global), 0, func(*api.Service) Change { return drainB },
			fate{All: true, Wanted: 1, Running: 1},
		},
	})
}

func TestASlotThatEndedIsRefilledOnlyIfItsRestartPolicyAllows(t *testing.T) {
	t.Parallel()
	checkSlots(t, map[string]slots{
		"a slot whose task failed stays filled when scaled up": {
			service("web", 2, 1, never), api.TaskStateFailed,
			func(s *api.Service) Change { return updated(s, false, scaled(3)) },
			fate{Wanted: 3, Running: 2, Lost: 1},
		},
		"a slot whose task is complete stays filled when scaled up, as it should": {
			service("web", 2, 1, onFailure), api.TaskStateCompleted,
			func(s *api.Service) Change { return updated(s, false, scaled(3)) },
			fate{All: true, Wanted: 3, Running: 2, Complete: 1},
		},
		"a slot whose task failed is free with condition on-failure": {
			service("web", 2, 1, onFailure), api.TaskStateFailed,
			func(s *api.Service) Change { return updated(s, false, scaled(3)) },
			fate{All: true, Wanted: 3, Running: 3},
		},
		"a slot that was drained before stays filled": {
			service("web", 2, 1, never), api.TaskStateShutdown,
			func(s *api.Service) Change { return updated(s, false, scaled(3)) },
			fate{Wanted: 3, Running: 2, Lost: 1},
		},
		"the slot that ended goes first when scaled down": {
			service("web", 2, 1, never), api.TaskStateFailed,
			func(s *api.Service) Change { return updated(s, false, scaled(1)) },
			fate{All: true, Wanted: 1, Running: 1},
		},
		"an update goes through a slot that ended, too": {
			service("web", 2, 1, never), api.TaskStateFailed,
			func(s *api.Service) Change { return updated(s, true, forced) },
			fate{All: true, Wanted: 2, Running: 2, Replaced: 2},
		},
		"an update of nothing leaves a slot that ended as it is": {
			service("web", 2, 1, never), api.TaskStateFailed,
			func(s *api.Service) Change { return updated(s, false, same) },
			fate{Wanted: 2, Running: 1, Lost: 1},
		},
		"a node whose global task failed gets no other with condition none": {
			service("web", 0, 1, never, global), api.TaskStateFailed,
			func(s *api.Service) Change { return updated(s, false, same) },
			fate{Wanted: 2, Running: 1, Lost: 1},
		},
	})
}

func TestASlotThatStaysEmptyByItsPolicyIsNoRiddle(t *testing.T) {
	t.Parallel()
	hourAgo := collectortest.Stamp(start.Add(-time.Hour))
	web := service("web", 2, 1, restarts(api.RestartOnNone, 0))
	web.Meta.CreatedAt = hourAgo
	tasks := endedOn(running(web, "a", "b"), 1, api.TaskStateShutdown)
	for _, object := range tasks {
		task := object.(*api.Task)
		task.Meta.CreatedAt, task.Status.Timestamp = hourAgo, hourAgo
	}
	outcome := try(t, updated(web, false, same), tasks, web, node("a", 8), node("b", 8))
	if got := fateOf(outcome); got.Lost != 1 || len(outcome.Diagnoses) != 0 {
		t.Errorf("%+v, diagnoses: %+v", got, outcome.Diagnoses)
	}
}

func TestRestartAttemptsAreCountedFromTheTasksOfASlot(t *testing.T) {
	t.Parallel()
	drainB := with(node("b", 8, drained))
	for name, test := range map[string]struct {
		attempts      uint64
		hidesVersions bool
		old           bool // the task before is of an earlier spec
		want          fate
		notes         int
	}{
		"one of one is used up":                             {1, false, false, fate{Wanted: 1, Lost: 1}, 0},
		"one of one is used up where versions are hidden":   {1, true, false, fate{Wanted: 1, Lost: 1}, 0},
		"one of two is left":                                {2, false, false, fate{All: true, Wanted: 1, Running: 1}, 1},
		"a task of an earlier spec counts for nothing":      {1, false, true, fate{All: true, Wanted: 1, Running: 1}, 1},
		"an earlier spec is told by itself without version": {1, true, true, fate{All: true, Wanted: 1, Running: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := service("web", 1, 1, restarts(api.RestartOnAny, test.attempts))
			now, before := running(web, "b")[0].(*api.Task), running(web, "b")[0].(*api.Task)
			before.ID, before.Status.State, before.DesiredState = "before", api.TaskStateFailed, api.TaskStateShutdown
			if test.old {
				before.SpecVersion, before.Spec.ForceUpdate = &api.Version{Index: 1}, 7
			}
			if test.hidesVersions {
				web.SpecVersion, now.SpecVersion, before.SpecVersion = nil, nil, nil
			}
			outcome := try(t, drainB, web, now, before, node("a", 8), node("b", 8))
			if diff := cmp.Diff(test.want, fateOf(outcome)); diff != "" {
				t.Error(diff)
			}
			if len(outcome.Unchecked) != test.notes {
				t.Errorf("not checked: %q", outcome.Unchecked)
			}
		})
	}
}

func TestAPausedNodeKeepsItsGlobalTask(t *testing.T) {
	t.Parallel()
	agent := service("agent", 0, 1, global)
	b := node("b", 8, paused)
	change := updated(agent, true, forced)
	outcome := try(t, change, running(agent, "a", "b"), agent, node("a", 8), b)
	if diff := cmp.Diff(fate{All: true, Wanted: 2, Running: 2, Replaced: 1}, fateOf(outcome)); diff != "" {
		t.Error(diff)
	}
	change = updated(agent, false, except("b"))
	outcome = try(t, change, running(agent, "a", "b"), agent, node("a", 8), b)
	if got := briefly(outcome); got.All || got.Wanted != 1 || got.On["b"] != 0 || outcome.Services[0].Ends != 1 {
		t.Errorf("a constraint that excludes the paused node ends its task: %+v", got)
	}
}

func TestAJobBeginsAnewOnlyWhenItIsUpdated(t *testing.T) {
	t.Parallel()
	gone := with(node("a", 8, labelled("id", "gone")))
	iteration := func(i uint64) *api.JobStatus { return &api.JobStatus{JobIteration: api.Version{Index: i}} }
	for name, test := range map[string]struct {
		edit      []func(*api.ServiceSpec)
		change    func(*api.Service) Change
		want      fate
		displaced string
	}{
		"a label drives one task away, and one follows": {
			nil, func(*api.Service) Change { return gone },
			fate{All: true, Wanted: 3, Running: 3}, "1 of job on a: constraints;",
		},
		"a label drives one task away, and none follows": {
			[]func(*api.ServiceSpec){restarts(api.RestartOnNone, 0)}, func(*api.Service) Change { return gone },
			fate{Wanted: 3, Running: 2, Lost: 1}, "1 of job on a: constraints;",
		},
		"a drained node's tasks of a job stay": {
			nil, func(*api.Service) Change { return with(node("a", 8, drained)) },
			fate{All: true}, "",
		},
		"an update makes every one anew, also what was complete": {
			nil, func(s *api.Service) Change {
				c := updated(s, true, jobOf(4, 4))
				c.Services[0].JobStatus = iteration(2)
				return c
			},
			fate{All: true, Wanted: 4, Running: 4}, "1 of job on a: job begins anew;2 of job on b: job begins anew;",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := service("job", 0, 1, append(test.edit, jobOf(4, 4), except("gone"))...)
			job.JobStatus = iteration(1)
			tasks := runningJob(job, "a", "b", "b", "b")
			tasks[3].(*api.Task).Status.State = api.TaskStateCompleted
			outcome := try(t, test.change(job), tasks, job, node("a", 8), node("b", 8))
			if diff := cmp.Diff(test.want, fateOf(outcome)); diff != "" {
				t.Error(diff)
			}
			if got := briefly(outcome).Displaced; got != test.displaced {
				t.Errorf("displaced %q, want %q", got, test.displaced)
			}
		})
	}
}

func TestAGlobalJobsTaskIsRestartedWhereItMayNotRun(t *testing.T) {
	t.Parallel()
	job := service("job", 0, 1, except("gone"), globalJob)
	job.JobStatus = &api.JobStatus{}
	tasks := runningJob(job, "a", "b")
	outcome := try(t, with(node("b", 8, labelled("id", "gone"))), tasks, job, node("a", 8), node("b", 8))
	if got := fateOf(outcome); got.All || got.Running != 1 || got.Waits != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAWaitingJobIsLookedAtWhenANodeJoins(t *testing.T) {
	t.Parallel()
	job := service("job", 0, 5, jobOf(2, 2))
	job.JobStatus = &api.JobStatus{}
	tasks := runningJob(job, "a", "")
	outcome := try(t, with(node("b", 8)), tasks, job, node("a", 8))
	if diff := cmp.Diff(fate{All: true, Wanted: 2, Running: 2}, fateOf(outcome)); diff != "" {
		t.Error(diff)
	}
}

func TestTasksThatMayTakeFreedRoomAreNamed(t *testing.T) {
	t.Parallel()
	web, db, cache := service("web", 1, 5), service("db", 1, 5), service("cache", 1, 1)
	objects := append(running(web, "a"), web, db, cache, node("a", 8))
	objects = append(objects, running(db, "")...)
	objects = append(objects, running(cache, "a")...)
	for name, test := range map[string]struct {
		change Change
		want   []string
	}{
		"an update that stops first": {
			updated(web, true, forced),
			[]string{"whether tasks that wait already take the room that becomes free first: of db"},
		},
		"a service that is removed takes no room":   {Change{Removed: []string{"web"}}, nil},
		"one more replica frees nothing":            {updated(cache, false, scaled(2)), nil},
		"a drained node's room is nobody's":         {with(node("a", 8, drained)), nil},
		"what waits is placed itself on a new node": {with(node("b", 8)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, try(t, test.change, objects...).Unchecked); diff != "" {
				t.Error(diff)
			}
		})
	}
}
