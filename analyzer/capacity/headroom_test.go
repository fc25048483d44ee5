package capacity

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/oracle"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

func TestHeadroom(t *testing.T) {
	t.Parallel()
	offers := func(n *api.Node) {
		n.Description.Resources.Generic = append(genericresource.NewSet("gpu", "a", "b", "c"), genericresource.NewDiscrete("ssd", 5))
	}
	asks := func(kind string, pieces int64) func(*api.ServiceSpec) {
		return func(s *api.ServiceSpec) {
			s.Task.Resources.Reservations.Generic = append(s.Task.Resources.Reservations.Generic, genericresource.NewDiscrete(kind, pieces))
		}
	}
	port := collectortest.Publishes(80)
	atMost := func(limit uint64) func(*api.ServiceSpec) {
		return func(s *api.ServiceSpec) { s.Task.Placement.MaxReplicas = limit }
	}
	cpu := func(s *api.ServiceSpec) { s.Task.Resources.Reservations.NanoCPUs = 1.5e9 }
	spread := func(s *api.ServiceSpec) {
		s.Task.Placement.Preferences = []*api.PlacementPreference{{Preference: &api.PlacementPreference_Spread{Spread: &api.SpreadOver{SpreadDescriptor: "node.labels.zone"}}}}
	}
	for name, c := range map[string]struct {
		service *api.Service
		want    Headroom
	}{
		"by memory": {service("web", 1, reserves(3*gib)), Headroom{Replicas: 2 + 1 + 2}},
		"by cores":  {service("web", 1, cpu), Headroom{Replicas: 2 + 2 + 2}},
		"by a kind of which there are named ones":  {service("web", 1, asks("gpu", 2)), Headroom{Replicas: 1}},
		"by a kind that is counted":                {service("web", 1, asks("ssd", 2)), Headroom{Replicas: 2}},
		"by the scarcer of two":                    {service("web", 1, asks("ssd", 1), asks("gpu", 1)), Headroom{Replicas: 3}},
		"by a host port that runs once on a node":  {service("web", 1, port), Headroom{Replicas: 2}},
		"by a limit of replicas on a node":         {service("web", 1, atMost(3)), Headroom{Replicas: 2 + 3 + 3}},
		"by constraints":                           {service("web", 1, constrained("node.labels.zone==east"), reserves(gib)), Headroom{Replicas: 8}},
		"a spread does not limit it":               {service("web", 1, spread, reserves(3*gib)), Headroom{Replicas: 2 + 1 + 2}},
		"nothing limits it":                        {service("web", 1), Headroom{Replicas: mostReplicas, AtLeast: true}},
		"constraints leave no node":                {service("web", 1, constrained("node.labels.zone==north")), Headroom{}},
		"a global service is left out":             {service("web", 1, global), Headroom{}},
		"the same with a plugin that is not there": {service("web", 1, withVolume("rexray")), Headroom{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := service("db", 1, reserves(4*gib))
			state := stateOf(t, node(1), node(2, offers), node(3, labelled("zone", "east")), node(4, drained), c.service, db, on(db, 2), on(service("web", 1, port), 1)[0].(*api.Task).Copy())
			if c.service.Spec.GetGlobal() != nil {
				if got := headroomOfWeb(t, state); len(got) > 0 {
					t.Errorf("it has %+v", got)
				}
				return
			}
			checkHeadroom(t, state, c.want)
		})
	}
}

func headroomOfWeb(t *testing.T, state *collector.State) []Headroom {
	t.Helper()
	all, ended, err := Headrooms(t.Context(), state)
	if err != nil || ended {
		t.Fatalf("%v, ended %t", err, ended)
	}
	return slices.DeleteFunc(all, func(h Headroom) bool { return h.Service != "web" })
}

// checkHeadroom compares what is counted for web, and then what the scheduler proves of it.
func checkHeadroom(t *testing.T, state *collector.State, want Headroom) {
	t.Helper()
	got := headroomOfWeb(t, state)
	want.Service = "web"
	if diff := cmp.Diff([]Headroom{want}, got); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	if ended, err := Prove(t.Context(), state, got); err != nil || ended {
		t.Fatalf("%v, ended %t", err, ended)
	}
	want.Proven = true
	if diff := cmp.Diff([]Headroom{want}, got); diff != "" {
		t.Errorf("by the scheduler (-want +got):\n%s", diff)
	}
}

func TestHeadroomIsWhatTheSchedulerPlacesInRandomClusters(t *testing.T) {
	t.Parallel()
	looked := 0
	rapid.Check(t, func(t *rapid.T) {
		cluster := oracle.Clusters().Draw(t, "cluster")
		cluster.Services = slices.DeleteFunc(cluster.Services, func(s *api.Service) bool { // of cluster volumes the scheduler says it anyway
			return len(filters.ClusterMounts(&api.Task{Spec: s.Spec.Task})) > 0
		})
		state, err := cluster.State()
		if err != nil {
			t.Fatal(err)
		}
		counted, _, err := Headrooms(context.Background(), state)
		if err != nil {
			t.Fatal(err)
		}
		proven := []Headroom{}
		for i := range counted {
			if !counted[i].AtLeast {
				looked++
				proven = append(proven, counted[i])
			}
		}
		wanted := append([]Headroom{}, proven...)
		for i := range wanted {
			wanted[i].Proven = true
		}
		if _, err := Prove(context.Background(), state, proven); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, proven); diff != "" {
			t.Fatalf("counted (-) and placed (+) differ:\n%s", diff)
		}
	})
	if looked == 0 {
		t.Error("no service was looked at")
	}
	t.Logf("%d services", looked)
}
