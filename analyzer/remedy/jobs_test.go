package remedy

import (
	"slices"
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

func replicatedJob(completions uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Mode = &api.ServiceSpec_ReplicatedJob{ReplicatedJob: &api.ReplicatedJob{MaxConcurrent: completions, TotalCompletions: completions}}
		s.Update = nil
	}
}

func TestAnUpdateOfAJobRepeatsWhatItHasDone(t *testing.T) {
	t.Parallel()
	job := service("job", 0, replicatedJob(4), reserves(12*gib, 0))
	job.JobStatus = &api.JobStatus{JobIteration: api.Version{Index: 2}}
	inSlots := func(slot int, tasks []any) []any {
		for i, object := range tasks {
			object.(*api.Task).Slot = uint64(slot + i)
			object.(*api.Task).ID += string(rune('a' + slot))
			object.(*api.Task).Spec.Resources = nil
		}
		return tasks
	}
	former := inSlots(0, ofIteration(on(job, 2, 2), 1, api.TaskStateCompleted))
	runs := inSlots(1, ofIteration(on(job, 2), 2, api.TaskStateRunning))
	completed := inSlots(2, ofIteration(on(job, 1, 2), 2, api.TaskStateCompleted))
	waits := ofIteration(waiting(job, 0, 1), 2, api.TaskStatePending)

	for _, test := range []struct {
		name     string
		tasks    []any
		risk     analyzer.Risk
		restarts int
		note     string
	}{
		{"what runs and what has completed is repeated", slices.Concat(former, runs, completed), analyzer.DataRisk, 3, "the job begins anew: it repeats 3 tasks, of which 2 completed"},
		{"a job that has done nothing in its iteration repeats nothing", former, analyzer.NoRisk, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			remedies := remediesOf(t, stateOf(t, list(node(1), node(2), job, waits, test.tasks)...), "insufficient-memory")
			r := withCommand(t, remedies, "docker service update --reserve-memory 8GiB job")
			if r.Risk != test.risk || r.Restarts != test.restarts || !r.Verified {
				t.Errorf("risk %s with %d restarts, verified %t; want %s with %d", r.Risk, r.Restarts, r.Verified, test.risk, test.restarts)
			}
			if isTold := strings.Contains(r.Note, "begins anew"); isTold != (test.note != "") || !strings.Contains(r.Note, test.note) {
				t.Errorf("the note is %q, want %q in it", r.Note, test.note)
			}
		})
	}
}

func TestAnImageForAJobRepeatsIt(t *testing.T) {
	t.Parallel()
	job := service("job", 0, replicatedJob(2), imageFor("linux", "arm64"))
	job.JobStatus = &api.JobStatus{JobIteration: api.Version{Index: 2}}
	completed := ofIteration(on(job, 1), 2, api.TaskStateCompleted)
	waits := ofIteration(waiting(job, 1, 1), 2, api.TaskStatePending)
	check(t, "platform-mismatch", []example{{
		"what has completed is repeated",
		list(node(1), job, completed, waits),
		[]string{"docker service update --image app:1 job | not verified | data 1"},
	}})
}
