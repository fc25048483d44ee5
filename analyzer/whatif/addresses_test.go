package whatif

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

func TestAddressesAreNotCheckedAndWhereTasksWaitForThemNotAllArePlaced(t *testing.T) {
	t.Parallel()
	tiny := &api.Network{ID: "n", Spec: api.NetworkSpec{Annotations: api.Annotations{Name: "tiny"}}}
	onTiny := func(s *api.ServiceSpec) { s.Task.Networks = []*api.NetworkAttachmentConfig{{Target: "n"}} }
	for name, test := range map[string]struct {
		waits  bool // the second of two tasks waits for the allocator
		change func(*api.Service) Change
		all    bool
		lacks  int
		notes  []string
	}{
		"more replicas":    {false, func(s *api.Service) Change { return updated(s, false, scaled(4)) }, true, 0, []string{"whether network tiny has addresses left for 2 more of web"}},
		"as many replicas": {false, func(s *api.Service) Change { return updated(s, true, forced) }, true, 0, nil},
		"more replicas where one waits": {
			true, func(s *api.Service) Change { return updated(s, false, scaled(4)) }, false, 3,
			[]string{"whether network tiny has addresses left for 3 more of web"},
		},
		"only so many as have an address": {true, func(s *api.Service) Change { return updated(s, false, scaled(1)) }, true, 0, nil},
		"another service there": {
			true, func(*api.Service) Change { return made(service("new", 1, 1, onTiny)) }, false, 1,
			[]string{"whether network tiny has addresses left for 1 more of new"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := service("web", 2, 1, onTiny)
			tasks := running(web, "a", "a")
			if last := tasks[1].(*api.Task); test.waits {
				last.NodeID, last.Status.State = "", api.TaskStateNew
			}
			outcome := try(t, test.change(web), tiny, web, tasks, node("a", 8))
			if s := outcome.Services[0]; outcome.PlacesAll != test.all || s.Unaddressed != test.lacks {
				t.Errorf("places all %t, %d may get no address", outcome.PlacesAll, s.Unaddressed)
			}
			if diff := cmp.Diff(test.notes, outcome.Unchecked); diff != "" {
				t.Error(diff)
			}
		})
	}
}
