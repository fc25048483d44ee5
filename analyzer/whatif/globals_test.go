package whatif

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

// made is a change that makes a service.
func made(s *api.Service) Change {
	return Change{Services: []ServiceChange{{ID: s.ID, Spec: &s.Spec, New: true}}}
}

func TestAGlobalServiceThatLosesTasksByItsSpecIsNotAllPlaced(t *testing.T) {
	t.Parallel()
	nowhere := constrained("node.labels.nope==1")
	for name, test := range map[string]struct {
		change  func(*api.Service) Change
		all     bool
		ends    int
		nowhere bool
	}{
		"a constraint that no node meets":    {func(s *api.Service) Change { return updated(s, false, nowhere) }, false, 2, true},
		"a constraint that one node meets":   {func(s *api.Service) Change { return updated(s, false, except("b")) }, false, 1, false},
		"a constraint that every node meets": {func(s *api.Service) Change { return updated(s, false, except("c")) }, true, 0, false},
		"a new service that no node would run": {
			func(*api.Service) Change { return made(service("new", 0, 1, global, nowhere)) }, false, 0, true,
		},
		"a new service that one node would run": {
			func(*api.Service) Change { return made(service("new", 0, 1, global, except("b"))) }, true, 0, false,
		},
		"a new job that no node would run": {
			func(*api.Service) Change { return made(service("new", 0, 1, globalJob, nowhere)) }, false, 0, true,
		},
		"a node that is drained":   {func(*api.Service) Change { return with(node("b", 8, drained)) }, true, 0, false},
		"every node that it has":   {func(*api.Service) Change { return with(node("a", 8, drained), node("b", 8, drained)) }, false, 0, true},
		"a label that it asks for": {func(*api.Service) Change { return with(node("b", 8, labelled("id", "gone"))) }, true, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := service("agent", 0, 1, global, except("gone"))
			outcome := try(t, test.change(agent), running(agent, "a", "b"), agent, node("a", 8), node("b", 8))
			s := outcome.Services[0]
			if outcome.PlacesAll != test.all || s.Ends != test.ends || s.Nowhere != test.nowhere {
				t.Errorf("places all %t, %d end, nowhere %t", outcome.PlacesAll, s.Ends, s.Nowhere)
			}
		})
	}
}
