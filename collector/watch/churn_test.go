package watch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// Sources that begin at any moment of a busy swarm, one with listings in between, all end with what a fresh listing
// says, and on the way no object ever becomes an older version of itself.
func TestAfterRandomChangesTheStoreEqualsAFreshListing(t *testing.T) {
	const changes, each = 120, 30
	m := startApart(t)
	control := m.control(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	var sources []*following
	var services []*api.Service
	for i := range changes {
		if i%each == 0 {
			source := New(m.socket)
			source.pulse = 20 * time.Millisecond
			if i == 0 {
				source.relist = 300 * time.Millisecond
			}
			f := follow(t, source)
			watchVersions(t, f.store)
			sources = append(sources, f)
		}
		services = changeSomething(t, control, random, services, i)
	}
	// One change more, after which nothing moves but what the orchestrators still do.
	labelNode(t, control, "last", "change")
	for i, f := range sources {
		var differences string
		equal := func(state *collector.State) bool {
			differences = cmp.Diff(contents(freshListing(t, control)), contents(state))
			return differences == ""
		}
		settled := time.Now().Add(patience)
		for !equal(f.store.Snapshot()) {
			select {
			case <-f.store.Changed():
			case <-time.After(50 * time.Millisecond): // the listing may have changed instead
			case err := <-f.ended:
				t.Fatalf("source %d ended: %v", i, err)
			}
			if time.Now().After(settled) {
				t.Fatalf("source %d differs from a fresh listing (-want +got):\n%s", i, differences)
			}
		}
	}
}

// changeSomething makes one change, and returns the services that may be changed further.
func changeSomething(t *testing.T, control api.ControlClient, random *rand.Rand, services []*api.Service, i int) []*api.Service {
	t.Helper()
	images := []string{"runs", "fails"}
	spec := replicated(fmt.Sprint("service-", i), images[random.IntN(len(images))], random.Uint64N(4))
	spec.Task.Restart = &api.RestartPolicy{Condition: api.RestartOnNone} // so that the swarm comes to rest
	action := random.IntN(10)
	switch {
	case action < 1:
		labelNode(t, control, "disk", fmt.Sprint(random.IntN(3)))
	case action < 5 || len(services) == 0:
		return append(services, create(t, control, spec))
	case action < 8:
		which := random.IntN(len(services))
		spec.Annotations.Name = services[which].Spec.Annotations.Name
		update(t, control, services[which].ID, spec)
		fewer := spec.GetReplicated().Replicas < services[which].Spec.GetReplicated().Replicas
		services[which].Spec = *spec
		if fewer {
			// From here on it is left alone: swarmkit's leader crashes where a service is removed just when one of its tasks is
			// reaped (manager/orchestrator.SetServiceTasksRemove).
			return slices.Delete(services, which, which+1)
		}
	default:
		which := random.IntN(len(services))
		if _, err := control.RemoveService(t.Context(), &api.RemoveServiceRequest{ServiceID: services[which].ID}); err != nil {
			t.Fatalf("remove service: %v", err)
		}
		return slices.Delete(services, which, which+1)
	}
	return services
}

// update gives a service a spec; it tries again when an orchestrator wrote in between.
func update(t *testing.T, control api.ControlClient, id string, spec *api.ServiceSpec) {
	t.Helper()
	for {
		now, err := control.GetService(t.Context(), &api.GetServiceRequest{ServiceID: id})
		if err != nil {
			t.Fatalf("get service: %v", err)
		}
		_, err = control.UpdateService(t.Context(), &api.UpdateServiceRequest{
			ServiceID: id, ServiceVersion: &now.Service.Meta.Version, Spec: spec,
		})
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "out of sequence") {
			t.Fatalf("update service: %v", err)
		}
	}
}

// freshListing is what the manager says now, read without the code under test.
func freshListing(t *testing.T, control api.ControlClient) *collector.State {
	t.Helper()
	nodes, err := control.ListNodes(t.Context(), &api.ListNodesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	services, err := control.ListServices(t.Context(), &api.ListServicesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := control.ListTasks(t.Context(), &api.ListTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	networks, err := control.ListNetworks(t.Context(), &api.ListNetworksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	store := collector.NewStore()
	listing := store.List()
	add(listing, nodes.Nodes)
	add(listing, services.Services)
	add(listing, tasks.Tasks)
	add(listing, networks.Networks)
	if err := listing.Replace(); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}

// watchVersions fails the test when an object that the store holds gives way to an older version of itself.
func watchVersions(t *testing.T, store *collector.Store) {
	seen, stop := map[string]uint64{}, make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			changed := store.Changed()
			before := seen
			seen = map[string]uint64{}
			for name, object := range contents(store.Snapshot()) {
				seen[name] = version(object.(api.StoreObject))
				if seen[name] < before[name] {
					t.Errorf("%s went back from version %d to %d", name, before[name], seen[name])
				}
			}
			select {
			case <-changed:
			case <-stop:
				return
			}
		}
	})
	t.Cleanup(func() { close(stop); watcher.Wait() })
}
