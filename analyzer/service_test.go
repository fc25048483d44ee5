package analyzer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

// stuckWeb is web with one task that no node matches; the others run.
func stuckWeb(t *testing.T, replicas uint64, others int, changes ...func(*api.Service)) Result {
	t.Helper()
	waiting := taskOf(9, api.TaskStatePending, time.Minute)
	waiting.Spec.Placement = &api.Placement{Constraints: []string{"node.labels.env==prod"}}
	objects := []any{web(replicas, changes...), waiting}
	for i := range others {
		running := taskOf(uint64(i+1), api.TaskStateRunning, time.Hour)
		running.ID += string(rune('a' + i))
		objects = append(objects, running)
	}
	return Analyze(stateWith(t, objects...), epoch, Patience{})
}

func TestImpactSaysWhatTheServiceLacks(t *testing.T) {
	t.Parallel()
	updating := func(s *api.Service) { s.UpdateStatus = &api.UpdateStatus{State: api.UpdateStatus_UPDATING} }
	for name, c := range map[string]struct {
		result Result
		want   Impact
	}{
		"none runs":                             {stuckWeb(t, 1, 0), Down},
		"some run":                              {stuckWeb(t, 3, 2), Degraded},
		"all run and an update cannot go on":    {stuckWeb(t, 2, 2, updating), UpdateBlocked},
		"all run, and one more than wanted not": {stuckWeb(t, 2, 2), NoImpact},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(c.result.Diagnoses) != 1 || c.result.Diagnoses[0].Impact != c.want {
				t.Errorf("want %s, got %+v", c.want, c.result.Diagnoses)
			}
		})
	}
}

func TestALabelSilencesAndIsStillCounted(t *testing.T) {
	t.Parallel()
	for label, silenced := range map[string]bool{
		"": false, "*": true, "placement-constraint": true, "insufficient-memory, placement-constraint": true, "insufficient-memory": false,
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			result := stuckWeb(t, 1, 0, func(s *api.Service) { s.Spec.Annotations.Labels["swarmdiag.ignore"] = label })
			if got := len(result.Ignored) == 1 && len(result.Diagnoses) == 0; got != silenced {
				t.Errorf("%d diagnoses, %d ignored, want silenced %t", len(result.Diagnoses), len(result.Ignored), silenced)
			}
		})
	}
}

func TestANodeUnderMaintenanceIsSilentUntilItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end      time.Time
		silenced bool
	}{
		"before the end": {epoch.Add(time.Hour), true},
		"after the end":  {epoch.Add(-time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drained := readyNode("node-2")
			drained.Spec.Availability = api.NodeAvailabilityDrain
			drained.Spec.Annotations.Labels = map[string]string{"swarmdiag.maintenance": c.end.Format(time.RFC3339)}
			waiting := taskOf(1, api.TaskStatePending, time.Minute)
			waiting.Spec.Placement = &api.Placement{Constraints: []string{"node.hostname==node-2"}}
			result := Analyze(stateWith(t, web(1), waiting, drained), epoch, Patience{})
			if got := len(result.Ignored) == 1 && len(result.Diagnoses) == 0; got != c.silenced {
				t.Errorf("%d diagnoses, %d ignored, want silenced %t", len(result.Diagnoses), len(result.Ignored), c.silenced)
			}
		})
	}
}

func TestTheStackIsTheLabelOfDockerStackDeploy(t *testing.T) {
	t.Parallel()
	result := stuckWeb(t, 1, 0, func(s *api.Service) { s.Spec.Annotations.Labels["com.docker.stack.namespace"] = "shop" })
	if d := result.Diagnoses[0]; d.Stack != "shop" || d.Summary[:12] != "web is down:" {
		t.Errorf("stack %q, summary %q", d.Stack, d.Summary)
	}
}

func TestATaskOfAFormerVersionIsCurrentWhereTheUpdateChangedNothingOfIt(t *testing.T) {
	t.Parallel()
	spec := func(image string) api.TaskSpec {
		return api.TaskSpec{Runtime: &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: image}}}
	}
	updated := func(before, now string) *api.Service {
		return web(1, func(s *api.Service) {
			s.PreviousSpec = &api.ServiceSpec{Annotations: s.Spec.Annotations, Task: spec(before)}
			s.Spec.Task, s.PreviousSpecVersion = spec(now), &api.Version{Index: 1}
		})
	}
	port := func(s *api.Service) *api.Service {
		s.Spec.Endpoint = &api.EndpointSpec{Ports: []*api.PortConfig{{PublishedPort: 80}}}
		return s
	}
	for name, c := range map[string]struct {
		service *api.Service
		version uint64
		image   string
		want    bool
	}{
		"the same version":                          {updated("a", "b"), 2, "b", true},
		"an update of a label alone":                {updated("a", "a"), 1, "a", true},
		"an update of the task":                     {updated("a", "b"), 1, "a", false},
		"an update of the published ports":          {port(updated("a", "a")), 1, "a", false},
		"two updates of a label":                    {updated("a", "a"), 0, "a", true},
		"two updates, of which the last is a label": {updated("b", "b"), 0, "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := &api.Task{Spec: spec(c.image), SpecVersion: &api.Version{Index: c.version}}
			if got := isCurrent(c.service, task); got != c.want {
				t.Errorf("isCurrent: %t, want %t", got, c.want)
			}
		})
	}
}

func TestALabelOfOursThatCannotBeUsedIsSaid(t *testing.T) {
	t.Parallel()
	node := readyNode("node-2")
	node.Spec.Annotations.Labels = map[string]string{"swarmdiag.maintenance": "tomorrow"}
	service := web(0, func(s *api.Service) {
		s.Spec.Annotations.Labels = map[string]string{"swarmdiag.threshold.pending": "soon", "swarmdiag.threshold.new": "5s"}
	})
	want := []string{
		`label swarmdiag.maintenance of node node-2 is not used: want a time such as 2026-01-31T18:00:00Z, not "tomorrow"`,
		`label swarmdiag.threshold.pending of service web is not used: threshold "pending=soon": want a duration of zero or more, such as 30s`,
	}
	if diff := cmp.Diff(want, Analyze(stateWith(t, service, node), epoch, Patience{}).Blind); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
