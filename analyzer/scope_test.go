package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
)

func TestAScopeNarrowsToWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	waiting := taskOf(3, api.TaskStatePending, time.Minute)
	waiting.ID = "waiting"
	waiting.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 1 << 40}}
	state := stateWith(t, web(1, func(s *api.Service) { s.Spec.Annotations.Labels["com.docker.stack.namespace"] = "shop" }), waiting)
	result := Analyze(state, epoch, Patience{})
	for name, c := range map[string]struct {
		scope Scope
		found int
		err   string
	}{
		"everything":                     {Scope{}, 1, ""},
		"a service by name":              {Scope{Names: []string{"web"}}, 1, ""},
		"a task by id":                   {Scope{Names: []string{"waiting"}}, 1, ""},
		"a task by the start of its id":  {Scope{Names: []string{"wait"}}, 1, ""},
		"a task as docker ps writes it":  {Scope{Names: []string{"web.3"}}, 1, ""},
		"its stack":                      {Scope{Stack: "shop"}, 1, ""},
		"another stack":                  {Scope{Stack: "ship"}, 0, "did you mean shop?"},
		"a node that should take it":     {Scope{Node: "node-1"}, 1, ""},
		"a node that does not exist":     {Scope{Node: "nod-1"}, 0, "did you mean node-1?"},
		"a service that does not exist":  {Scope{Names: []string{"wbe"}}, 0, "did you mean web?"},
		"a beginning of two ids":         {Scope{Names: []string{"w"}}, 0, "give more of it"},
		"a name that is near to nothing": {Scope{Names: []string{"database"}}, 0, "there are web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scope := c.scope
			err := scope.Resolve(state)
			if c.err != "" || err != nil {
				if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if got := scope.Narrow(state, result); len(got.Diagnoses) != c.found {
				t.Errorf("%d diagnoses, want %d", len(got.Diagnoses), c.found)
			}
		})
	}
}
