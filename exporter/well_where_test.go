package exporter

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

func TestAServiceThatIsWellSaysWhyItRunsWhereItRuns(t *testing.T) {
	t.Parallel()
	s := newSwarm(t)
	inZone := func(zone string) func(*api.Node) {
		return func(n *api.Node) {
			n.Spec.Annotations.Labels = map[string]string{"zone": zone}
			n.Description.Engine.Labels = map[string]string{"rack": "r-" + zone}
		}
	}
	s.put(node("node-1", inZone("east")), node("node-2", inZone("west")), node("node-3", inZone("north")), node("node-4", inZone("west"), drained))
	s.put(service("web", func(s *api.Service) {
		s.Spec.Mode = &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: 3}}
		s.Spec.Task.Placement = &api.Placement{Constraints: []string{"node.labels.zone!=north"}, Preferences: []*api.PlacementPreference{
			{Preference: &api.PlacementPreference_Spread{Spread: &api.SpreadOver{SpreadDescriptor: "node.labels.zone"}}},
			{Preference: &api.PlacementPreference_Spread{Spread: &api.SpreadOver{SpreadDescriptor: "engine.labels.rack"}}},
		}}
	}))
	for i, id := range []string{"a", "b", "c"} {
		on := []string{"id-of-node-1", "id-of-node-2", "id-of-node-2"}[i]
		s.task(id, on, api.TaskStateRunning, start, func(t *api.Task) { t.Slot = uint64(i + 1) })
	}
	for _, id := range []string{"f1", "f2", "f3", "f4", "f5"} {
		s.task(id, "id-of-node-1", api.TaskStateFailed, start, func(t *api.Task) { t.Slot, t.DesiredState = 1, api.TaskStateShutdown })
	}
	state, now := s.Snapshot(), start.Add(time.Minute)
	for name, service := range map[string]string{"well.where": "web", "well.where.task": "web.2"} {
		well, err := WellOf(state, analyzer.Scope{Names: []string{service}}, analyzer.Result{}, now)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := Report(&text, analyzer.Result{}, well, false, false); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", text.Bytes())
		asJSON, err := json.MarshalIndent(well, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", append(asJSON, '\n'))
	}
}

func TestAServiceThatIsScaledToNothingRunsNowhere(t *testing.T) {
	t.Parallel()
	s := newSwarm(t)
	s.put(service("web", func(s *api.Service) {
		s.Spec.Mode = &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{}}
	}))
	well, err := WellOf(s.Snapshot(), analyzer.Scope{Names: []string{"web"}}, analyzer.Result{}, start)
	want := []Well{{Says: "web is not stuck: it is scaled to 0.", Service: "web"}}
	if diff := cmp.Diff(want, well); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
