package whatif

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

// bystanders is what becomes of the services that a change is not about.
type bystanders struct {
	All   bool
	About string
	// Placed are those of which tasks are placed, with how many; Still those of which none is.
	Placed map[string]int
	Still  string
}

func bystandersOf(o Outcome) bystanders {
	b := bystanders{All: o.PlacesAll, About: strings.Join(o.About, " "), Placed: map[string]int{}}
	for _, s := range o.Services {
		if s.Other {
			b.Placed[s.Name] = s.Placed
		}
	}
	var still []string
	for _, w := range o.StillWaiting {
		still = append(still, w.Service)
	}
	b.Still = strings.Join(still, " ")
	return b
}

// crowded is a node of 8 GiB that holder has whole, and one of 4 that keeper has; others wait.
func crowded() (holder, keeper *api.Service, swarm []any) {
	holder, keeper = service("holder", 2, 4), service("keeper", 1, 4)
	web, big, pinned := service("web", 1, 3), service("big", 2, 7), service("pinned", 1, 1, constrained("node.labels.id==b"))
	return holder, keeper, []any{
		node("a", 8), node("b", 4), holder, keeper, web, big, pinned,
		running(holder, "a", "a"), running(keeper, "b"), running(web, ""), running(big, "", ""), running(pinned, ""),
	}
}

func TestWhatWaitsOfOtherServicesFollowsAChangeOfOne(t *testing.T) {
	t.Parallel()
	holder, keeper, swarm := crowded()
	for name, test := range map[string]struct {
		change Change
		want   bystanders
	}{
		"fewer replicas make room for what fits": {
			updated(holder, false, scaled(1)), bystanders{true, "holder", map[string]int{"web": 1}, "big pinned"},
		},
		"lower reservations make room once the update has come far enough": {
			updated(holder, true, reserves(2)), bystanders{true, "holder", map[string]int{"web": 1}, "big pinned"},
		},
		"so do they where the old tasks stop last": {
			updated(holder, true, reserves(0), constrained("node.labels.id==a"), order(api.UpdateConfig_START_FIRST, 1)),
			bystanders{true, "holder", map[string]int{"web": 1}, "big pinned"},
		},
		"a constraint drives a service to where it waits itself": {
			updated(holder, false, constrained("node.labels.id==b")), bystanders{false, "holder", map[string]int{"web": 1}, "big pinned"},
		},
		"a removed service makes room": {
			Change{Removed: []string{"keeper"}}, bystanders{true, "", map[string]int{"pinned": 1, "web": 1}, "big"},
		},
		"more replicas make no room": {
			updated(keeper, false, scaled(2)), bystanders{false, "keeper", map[string]int{}, ""},
		},
		"a change of nodes is about all that waits": {
			with(node("c", 2, labelled("id", "b"))), bystanders{false, "", map[string]int{}, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, bystandersOf(try(t, test.change, swarm...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOneOfTwoOthersTakesTheRoomAndThatNothingSaysWhich(t *testing.T) {
	t.Parallel()
	holder, _, swarm := crowded()
	outcome := try(t, updated(holder, false, scaled(0)), swarm...)
	got := bystandersOf(outcome)
	if web, big := got.Placed["web"], got.Placed["big"]; !got.All || web+big != 1 || !strings.Contains(got.Still, "pinned") {
		t.Errorf("%+v", got)
	}
	want := []string{"which of the tasks that wait take the room that becomes free: of big, web; the scheduler looks at them in any order"}
	if diff := cmp.Diff(want, outcome.Unchecked); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsLeftWaitingOfAnotherServiceSaysWhy(t *testing.T) {
	t.Parallel()
	holder, web := service("holder", 1, 8), service("web", 3, 4)
	outcome := try(t, updated(holder, false, scaled(0)), node("a", 8), holder, web, running(holder, "a"), running(web, "", "", ""))
	if len(outcome.Services) != 2 || outcome.Services[0].Name != "holder" {
		t.Fatalf("what the change is about comes first: %+v", outcome.Services)
	}
	if s := outcome.Services[1]; !s.Other || s.Placed != 2 || s.Waiting != 1 || !outcome.PlacesAll {
		t.Errorf("places all %t, %+v", outcome.PlacesAll, s)
	}
	if d := outcome.Diagnoses; len(d) != 1 || d[0].Service != "web" || d[0].Cause != "insufficient-memory" {
		t.Errorf("%+v", d)
	}
}
