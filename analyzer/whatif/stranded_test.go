package whatif

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

func TestWhatIsOnANodeThatIsDownDoesNotRun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		service *api.Service
		change  func(*api.Service) Change
		want    brief
	}{
		"it is followed on another node": {
			service("web", 2, 3), func(s *api.Service) Change { return updated(s, false, scaled(2)) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 2}},
		},
		"where no other one takes it, it waits": {
			service("web", 2, 5), func(s *api.Service) Change { return updated(s, false, scaled(2)) },
			brief{Wanted: 2, Running: 1, Waits: 1, On: map[string]int{"a": 1}, Cause: "insufficient-memory"},
		},
		"scaled down, the service keeps the one that runs": {
			service("web", 2, 3), func(s *api.Service) Change { return updated(s, false, scaled(1)) },
			brief{All: true, Wanted: 1, Running: 1, On: map[string]int{"a": 1}},
		},
		"a policy without restarts has none follow": {
			service("web", 2, 3, restarts(api.RestartOnNone, 0)), func(s *api.Service) Change { return updated(s, false, scaled(2)) },
			brief{Wanted: 2, Running: 1, On: map[string]int{"a": 1}},
		},
		"a global service's is not missed": {
			service("web", 0, 3, global), func(s *api.Service) Change { return updated(s, true, same) },
			brief{All: true, Wanted: 1, Running: 1, On: map[string]int{"a": 1}, Done: 1, Steps: 1},
		},
		"to drain the node displaces nothing": {
			service("web", 2, 3), func(*api.Service) Change { return with(node("b", 8, down, drained)) },
			brief{All: true, On: map[string]int{}},
		},
		"a node that joins takes it": {
			service("web", 2, 5), func(*api.Service) Change { return with(node("c", 8)) },
			brief{All: true, Wanted: 2, Running: 2, On: map[string]int{"a": 1, "c": 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome := try(t, test.change(test.service), running(test.service, "a", "b"), test.service, node("a", 8), node("b", 8, down))
			if diff := cmp.Diff(test.want, briefly(outcome)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOtherServicesTasksOnANodeThatIsDownAreNamedButNotAJobs(t *testing.T) {
	t.Parallel()
	web, db, job := service("web", 1, 1), service("db", 1, 1), service("job", 0, 1, jobOf(1, 1))
	job.JobStatus = &api.JobStatus{}
	outcome := try(t, updated(web, false, scaled(2)), web, db, job, running(web, "a"), running(db, "b"), runningJob(job, "b"), node("a", 8), node("b", 8, down))
	want := []string{"which nodes take what was on nodes that are down or drained: of db"}
	if diff := cmp.Diff(want, outcome.Unchecked); diff != "" {
		t.Error(diff)
	}
}
