package analyzer

import (
	"testing"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
)

func TestThresholdsFollowTheServiceThenTheOperatorThenTheTask(t *testing.T) {
	t.Parallel()
	labelled := web(1, func(s *api.Service) { s.Spec.Annotations.Labels["swarmdiag.threshold.pending"] = "3m" })
	mislabelled := web(1, func(s *api.Service) { s.Spec.Annotations.Labels["swarmdiag.threshold.pending"] = "soon" })
	var set Patience
	if err := set.Set("pending=30s"); err != nil {
		t.Fatal(err)
	}
	checked := taskOf(1, api.TaskStateStarting, 0)
	checked.Spec.Runtime = &api.TaskSpec_Container{Container: &api.ContainerSpec{
		StopGracePeriod: gogotypes.DurationProto(20 * time.Second),
		Healthcheck: &api.HealthConfig{
			Test: []string{"CMD"}, Interval: gogotypes.DurationProto(5 * time.Second), Timeout: gogotypes.DurationProto(2 * time.Second),
			Retries: 3, StartPeriod: gogotypes.DurationProto(time.Minute),
		},
	}}
	checked.Spec.Restart = &api.RestartPolicy{Delay: gogotypes.DurationProto(time.Minute)}
	for name, c := range map[string]struct {
		patience Patience
		service  *api.Service
		task     *api.Task
		state    string
		want     time.Duration
	}{
		"pending is ten seconds":                             {Patience{}, web(1), nil, "pending", 10 * time.Second},
		"the operator sets it for all":                       {set, web(1), nil, "pending", 30 * time.Second},
		"a label sets it for one service":                    {set, labelled, nil, "pending", 3 * time.Minute},
		"a label that is no duration does not count":         {set, mislabelled, nil, "pending", 30 * time.Second},
		"ready is the restart delay and a minute":            {Patience{}, web(1), checked, "ready", 2 * time.Minute},
		"ready without a policy has Swarm's delay":           {Patience{}, web(1), nil, "ready", 65 * time.Second},
		"starting is what the health check may take":         {Patience{}, web(1), checked, "starting", time.Minute + 4*5*time.Second + 2*time.Second},
		"starting is a minute without a health check":        {Patience{}, web(1), nil, "starting", time.Minute},
		"stopping is the stop grace and ten seconds":         {Patience{}, web(1), checked, "stopping", 30 * time.Second},
		"stopping without a grace has the engine's, and ten": {Patience{}, web(1), taskOf(1, api.TaskStateRunning, 0), "stopping", 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.patience.threshold(c.service, c.task, c.state); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAThresholdThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	for _, assignment := range []string{"", "pending", "pending=", "pending=soon", "pending=-1s", "waiting=1s", "=1s"} {
		var p Patience
		if err := p.Set(assignment); err == nil {
			t.Errorf("%q is taken", assignment)
		}
	}
}

func TestWhatTheStateProvesNeedsNoWaitingUnlessAsked(t *testing.T) {
	t.Parallel()
	young := taskOf(1, api.TaskStatePending, time.Second)
	young.Spec.Placement = &api.Placement{Constraints: []string{"node.labels.env==prod"}}
	state := stateWith(t, web(1), young)
	if result := Analyze(state, epoch, Patience{ProvenAtOnce: true}); len(result.Diagnoses) != 1 {
		t.Errorf("why says %v, want one diagnosis", result.Diagnoses)
	}
	result := Analyze(state, epoch, Patience{})
	if len(result.Diagnoses) != 0 || !result.Next.Equal(epoch.Add(9*time.Second)) {
		t.Errorf("the agent says %v and looks again at %s", result.Diagnoses, result.Next)
	}
}

func TestWhereAgesAreTheLeastWhatIsNotAsDesiredCountsButNotWhatIsStopping(t *testing.T) {
	t.Parallel()
	stopping := taskOf(1, api.TaskStateRunning, time.Second)
	stopping.DesiredState = api.TaskStateShutdown
	successor := taskOf(1, api.TaskStateRunning, time.Second)
	successor.ID = "successor"
	for name, c := range map[string]struct {
		tasks []*api.Task
		cause string
	}{
		"a new task":                     {[]*api.Task{taskOf(1, api.TaskStateNew, time.Second)}, "unexplained"},
		"a task that a node would take":  {[]*api.Task{taskOf(1, api.TaskStatePending, time.Second)}, "not-retried"},
		"a slot without a task":          {nil, "unexplained"},
		"a task that stops beside a new": {[]*api.Task{stopping, successor}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := web(1)
			s.Meta.CreatedAt = ago(time.Second)
			objects := []any{s}
			for _, task := range c.tasks {
				objects = append(objects, task)
			}
			state := stateWith(t, objects...)
			if result := Analyze(state, epoch, Patience{ProvenAtOnce: true}); len(result.Diagnoses) != 0 {
				t.Fatalf("where the time is known: %v", result.Diagnoses)
			}
			result := Analyze(state, epoch, Patience{ProvenAtOnce: true, LeastAges: true})
			switch {
			case c.cause == "" && len(result.Diagnoses)+len(result.Blind) == 0:
			case len(result.Diagnoses) != 1 || result.Diagnoses[0].Cause != c.cause || result.Diagnoses[0].Confidence != Possible || len(result.Blind) != 1:
				t.Errorf("want %q with confidence possible and what is not seen: %+v, %q", c.cause, result.Diagnoses, result.Blind)
			}
		})
	}
}

func TestATaskThatFailedNeedsNoWaitingUnlessAsked(t *testing.T) {
	t.Parallel()
	failed, successor := taskOf(1, api.TaskStateFailed, 2*time.Second), taskOf(1, api.TaskStatePreparing, time.Second)
	failed.ID, failed.DesiredState, failed.Status.Err = "failed", api.TaskStateShutdown, "task: non-zero exit (1)"
	state := stateWith(t, web(1), failed, successor)
	if result := Analyze(state, epoch, Patience{ProvenAtOnce: true}); len(result.Diagnoses) != 1 || result.Diagnoses[0].DockerSays != failed.Status.Err {
		t.Errorf("why says %v, want one diagnosis with Docker's word", result.Diagnoses)
	}
	if result := Analyze(state, epoch, Patience{}); len(result.Diagnoses) != 0 {
		t.Errorf("the agent says %v", result.Diagnoses)
	}
}
