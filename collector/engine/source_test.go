package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector"
)

// wait fails the test when what it waits for takes too long.
const wait = time.Minute

func TestOneReadAsksForEachThingOnceOverOneConnection(t *testing.T) {
	t.Parallel()
	r := newReplay(t, "memory-fragmented")
	state, err := collector.Once(t.Context(), New(r.dial(t), time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	nodes, services, tasks, networks := 0, 0, 0, 0
	for range state.Nodes() {
		nodes++
	}
	for range state.Services() {
		services++
	}
	for range state.Tasks() {
		tasks++
	}
	for range state.Networks() {
		networks++
	}
	if nodes != 3 || services != 2 || tasks != 4 || networks != 1 {
		t.Errorf("%d nodes, %d services, %d tasks, %d networks", nodes, services, tasks, networks)
	}
	about := state.About
	if about.Source != "engine" || about.ClusterID != "xqecf5dx2629fdqtsnejcad4n" || about.ClusterName != "default" || about.AsOf.IsZero() {
		t.Errorf("about: %+v", about)
	}
	if len(about.Gaps) > 0 {
		t.Errorf("gaps: %v", about.Gaps)
	}
	if polls, connections := r.counts(); polls != 1 || connections != 1 {
		t.Errorf("%d polls over %d connections", polls, connections)
	}
	web := state.ServiceNamed("web")
	for task := range state.TasksOf(web.ID) {
		if task.Status.State != api.TaskStatePending || task.SpecVersion.Index != web.SpecVersion.Index || task.ServiceAnnotations.Name != "web" ||
			task.Spec.Resources.Reservations.MemoryBytes != 12<<30 {
			t.Errorf("task: %v", task)
		}
	}
}

// follow runs the source until the test ends, and returns a channel of its whole states.
func follow(t *testing.T, source *Source, store *collector.Store) <-chan time.Time {
	t.Helper()
	live, ended := make(chan time.Time, 100), make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- source.Follow(ctx, store, func() { live <- time.Now() }) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("follow ended with %v", err)
			}
		case <-time.After(wait):
			t.Error("follow does not end")
		}
	})
	return live
}

func next(t *testing.T, live <-chan time.Time) time.Time {
	t.Helper()
	select {
	case at := <-live:
		return at
	case <-time.After(wait):
		t.Fatal("no state")
		return time.Time{}
	}
}

func TestEventsBringTheNextPollForwardAndNoMoreThanOne(t *testing.T) {
	t.Parallel()
	r := newReplay(t, "host-port")
	live := follow(t, New(r.dial(t), time.Hour), collector.NewStore())
	first := next(t, live)
	for range 50 {
		select {
		case r.events <- `{"Type":"service","Action":"update","scope":"swarm"}`:
		case <-time.After(wait):
			t.Fatal("nobody listens to events")
		}
	}
	if second := next(t, live); second.Sub(first) < quiet {
		t.Errorf("polled again after %v", second.Sub(first))
	}
	if polls, _ := r.counts(); polls > 3 {
		t.Errorf("%d polls after 50 events", polls)
	}
}

func TestPollingGoesOnWithoutEvents(t *testing.T) {
	t.Parallel()
	r := newReplay(t, "host-port")
	live := follow(t, New(r.dial(t), time.Millisecond), collector.NewStore())
	first, second := next(t, live), next(t, live)
	if second.Sub(first) < quiet {
		t.Errorf("polled again after %v", second.Sub(first))
	}
}

func TestAPollThatFindsNothingNewIsNoChange(t *testing.T) {
	t.Parallel()
	r, store := newReplay(t, "host-port"), collector.NewStore()
	live := follow(t, New(r.dial(t), time.Millisecond), store)
	next(t, live)
	changed, before := store.Changed(), store.Snapshot().AsOf
	next(t, live)
	next(t, live)
	select {
	case <-changed:
		t.Error("the same replies are told as a change")
	default:
	}
	if !store.Snapshot().AsOf.After(before) {
		t.Error("the state is not confirmed")
	}
	r.answer("/tasks", 200, "[]")
	select {
	case <-changed:
	case <-time.After(wait):
		t.Error("no change when all tasks are gone")
	}
}

func TestTheLossOfTheEngineEndsFollow(t *testing.T) {
	t.Parallel()
	r := newReplay(t, "host-port")
	client := r.dial(t)
	ended := make(chan error, 1)
	go func() {
		ended <- New(client, time.Millisecond).Follow(t.Context(), collector.NewStore(), func() { r.answer("/nodes", 500, `{"message":"boom"}`) })
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.HasSuffix(err.Error(), "list nodes: Error response from daemon: boom") {
			t.Error(err)
		}
	case <-time.After(wait):
		t.Error("follow goes on")
	}
}

// Where nobody mounts a cluster volume, none is asked for: the replay has no reply to that.
func TestClusterVolumesAreAskedForWhereAServiceMountsOne(t *testing.T) {
	t.Parallel()
	const services = `[{"ID":"s1","Spec":{"Name":"db","TaskTemplate":{"ContainerSpec":{"Image":"db","Mounts":[{"Type":"cluster","Source":"data","Target":"/d"}]}}}}]`
	const volumes = `{"Volumes":[{"Name":"local","Driver":"local"},{"Name":"data","Driver":"csi","ClusterVolume":{"ID":"v1",
		"Spec":{"AccessMode":{"Scope":"single","Sharing":"none"},"Availability":"pause"},"Info":{"VolumeID":"x"}}}]}`
	r := newReplay(t, "host-port")
	r.answer("/services", 200, services)
	r.answer("/volumes", 200, volumes)
	state, err := collector.Once(t.Context(), New(r.dial(t), time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	found := slices.Collect(state.Volumes())
	if len(found) != 1 || found[0].Spec.Annotations.Name != "data" || found[0].Spec.Availability != api.VolumeAvailabilityPause {
		t.Errorf("volumes: %v", found)
	}

	old := newReplay(t, "host-port")
	old.api = "1.41"
	old.answer("/services", 200, services)
	if _, err := collector.Once(t.Context(), New(old.dial(t), time.Hour)); err != nil {
		t.Errorf("Docker 20.10, which has none: %v", err)
	}
}

func TestAnEngineIsLeftAloneForLongerAfterALongPoll(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]struct{ least, interval time.Duration }{
		time.Millisecond:       {quiet, 5 * time.Second},
		20 * time.Millisecond:  {1200 * time.Millisecond, 5 * time.Second},
		200 * time.Millisecond: {12 * time.Second, 12*time.Second + 200*time.Millisecond},
		4 * time.Second:        {longest, longest + 4*time.Second},
	} {
		if got := least(took); got != want.least {
			t.Errorf("after a poll of %v: left alone for %v, want %v", took, got, want.least)
		}
		if got := Interval(5*time.Second, took); got != want.interval {
			t.Errorf("with polls of %v: one every %v, want %v", took, got, want.interval)
		}
	}
}
