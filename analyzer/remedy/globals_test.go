package remedy

import (
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

func globalJob(s *api.ServiceSpec) {
	s.Mode, s.Update = &api.ServiceSpec_GlobalJob{GlobalJob: &api.GlobalJob{}}, nil
}

// ofIteration makes tasks those of a job's iteration, in a state.
func ofIteration(tasks []any, index uint64, state api.TaskState) []any {
	for _, object := range tasks {
		t := object.(*api.Task)
		t.JobIteration, t.Status.State, t.DesiredState = &api.Version{Index: index}, state, api.TaskStateCompleted
	}
	return tasks
}

func TestOtherGlobalServicesHaveTheirRoomFirst(t *testing.T) {
	t.Parallel()
	var (
		web   = service("web", 1, reserves(5*gib, 0))
		large = service("agent", 0, global, reserves(6*gib, 0))
		small = service("agent", 0, global, reserves(2*gib, 0))
		job   = service("agent", 0, globalJob, reserves(6*gib, 0))
		away  = service("agent", 0, global, reserves(6*gib, 0), constrained("node.role==manager"))
		gpu   = service("agent", 0, global, reserves(6*gib, 0), constrained("node.labels.gpu==1"))
		needs = service("web", 1, reserves(5*gib, 0), constrained("node.labels.gpu==1"))

		full   = node(1, memoryOf(4*gib))
		lowers = "docker service update --reserve-memory 4GiB web | 1 on node-1 | none"
		active = "docker node update --availability active node-2 | 1 on node-2 | none"
	)
	job.JobStatus = &api.JobStatus{JobIteration: api.Version{Index: 2}}
	ranBefore := ofIteration(on(job, 2), 1, api.TaskStateCompleted)
	hasRun := ofIteration(on(job, 2), 2, api.TaskStateCompleted)
	check(t, "insufficient-memory", []example{
		{
			"an activated node that a global service fills is no remedy",
			list(full, node(2, drained), large, web, waiting(web, 1, 1)),
			[]string{lowers},
		},
		{
			"an activated node that takes both is one, and only the waiting task counts",
			list(full, node(2, drained), small, web, waiting(web, 1, 1)),
			[]string{lowers, active},
		},
		{
			"a global service whose constraints leave the node out takes nothing there",
			list(full, node(2, drained), away, web, waiting(web, 1, 1)),
			[]string{lowers, active},
		},
		{
			"the task of a global service that waits on the node already takes its room",
			list(full, node(2, paused), large, waitingOn(large, 2), web, waiting(web, 1, 1)),
			[]string{lowers},
		},
		{
			"a global job whose iteration has not been on the node takes its room",
			list(full, node(2, drained), job, ranBefore, web, waiting(web, 1, 1)),
			[]string{lowers},
		},
		{
			"a global job whose iteration has completed on the node is not made again",
			list(full, node(2, drained), job, hasRun, web, waiting(web, 1, 1)),
			[]string{lowers, active},
		},
	})
	check(t, "placement-constraint", []example{{
		"a label that brings a global service, too, is no remedy where that fills the node",
		list(node(1), node(2, memoryOf(16*gib)), gpu, needs, waiting(needs, 1, 1)),
		[]string{"docker node update --label-add 'gpu=1' node-2 | 1 on node-2 | none"},
	}})
}

func TestWhoElseWaitsForTheSameRoomIsTold(t *testing.T) {
	t.Parallel()
	web, other, far := service("web", 1, reserves(5*gib, 0)), service("other", 2, reserves(5*gib, 0)), service("far", 1, reserves(32*gib, 0))
	state := stateOf(t, node(1, memoryOf(gib)), node(2, drained), web, waiting(web, 1, 1), other, waiting(other, 1, 2), far, waiting(far, 1, 1))
	found, err := Find(t.Context(), state, diagnosedOf(t, state, "web"))
	if err != nil {
		t.Fatal(err)
	}
	r := withCommand(t, found.Remedies, "docker node update --availability active node-2")
	if want := "other tasks that wait may go there first: 2 of other"; !strings.HasSuffix(r.Note, want) {
		t.Errorf("the note is %q, want it to end with %q", r.Note, want)
	}
}

// diagnosedOf picks the first diagnosis of a service.
func diagnosedOf(t *testing.T, state *collector.State, service string) *analyzer.Diagnosis {
	t.Helper()
	result := analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true})
	for i, d := range result.Diagnoses {
		if d.Subject.Name == service {
			return &result.Diagnoses[i]
		}
	}
	t.Fatalf("nothing is diagnosed of %s: %+v", service, result.Diagnoses)
	return nil
}

// withCommand returns the remedy with a command.
func withCommand(t *testing.T, remedies []analyzer.Remedy, command string) analyzer.Remedy {
	t.Helper()
	for _, r := range remedies {
		if r.Command == command {
			return r
		}
	}
	t.Fatalf("%s is not among %+v", command, remedies)
	return analyzer.Remedy{}
}
