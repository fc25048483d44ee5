package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/sirupsen/logrus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	created = api.WatchActionKindCreate
	updated = api.WatchActionKindUpdate
	removed = api.WatchActionKindRemove
)

func TestTheNewestVersionOfAnObjectWins(t *testing.T) {
	t.Parallel()
	type events = []*api.WatchMessage_Event
	for name, test := range map[string]struct {
		events events
		want   api.TaskState
	}{
		"an older event is passed over":    {events{event(updated, task("t", 9, api.TaskStateNew))}, api.TaskStateAssigned},
		"an older creation is passed over": {events{event(created, task("t", 3, api.TaskStateNew))}, api.TaskStateAssigned},
		"an equal version is taken":        {events{event(updated, task("t", 10, api.TaskStateRunning))}, api.TaskStateRunning},
		"a newer event is taken":           {events{event(updated, task("t", 11, api.TaskStateRunning))}, api.TaskStateRunning},
		"of two changes in one message the last is taken": {events{
			event(updated, task("t", 11, api.TaskStateReady)), event(updated, task("t", 11, api.TaskStateRunning)),
		}, api.TaskStateRunning},
		"an older one in the same message does not undo a newer one": {events{
			event(updated, task("t", 11, api.TaskStateRunning)), event(updated, task("t", 9, api.TaskStateNew)),
		}, api.TaskStateRunning},
		"an object of another kind, or none, is passed over": {events{
			{Action: updated, Object: &api.Object{Object: &api.Object_Secret{Secret: &api.Secret{ID: "s"}}}}, {Action: updated},
		}, api.TaskStateAssigned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{listTasks: func() []*api.Task { return []*api.Task{task("t", 10, api.TaskStateAssigned)} }}
			at := follow(t, f.serve(t))
			at.waitLive(t)
			f.send(t, test.events...)
			f.send(t, event(created, task("marker", 1, api.TaskStateNew)))
			state := at.wait(t, "the marker came", func(s *collector.State) bool { return s.Task("marker") != nil })
			if got := state.Task("t").Status.State; got != test.want {
				t.Errorf("state = %v, want %v", got, test.want)
			}
		})
	}
}

func TestEventsInARowAreFewChanges(t *testing.T) {
	t.Parallel()
	const events = 200
	f := &fake{}
	at := follow(t, f.serve(t))
	at.waitLive(t)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range events {
			f.send(t, event(updated, task("t", uint64(i+1), api.TaskStateRunning)), event(created, task(fmt.Sprint("t", i), 1, api.TaskStateNew)))
		}
	}()
	changes := 0
	state := at.wait(t, "the last one is in the store", func(s *collector.State) bool {
		changes++
		return s.Task(fmt.Sprint("t", events-1)) != nil
	})
	<-sent
	if changes > events/2 {
		t.Errorf("%d events were %d changes of the store", events, changes)
	}
	for i := range events {
		if state.Task(fmt.Sprint("t", i)) == nil {
			t.Errorf("event %d is missing", i)
		}
	}
	if got := version(state.Task("t")); got != events {
		t.Errorf("the task that each event changed has version %d", got)
	}
}

func TestARemovedObjectIsGone(t *testing.T) {
	t.Parallel()
	f := &fake{listTasks: func() []*api.Task { return []*api.Task{task("t", 10, api.TaskStateAssigned)} }}
	at := follow(t, f.serve(t))
	at.waitLive(t)
	f.send(t, event(updated, task("t", 11, api.TaskStateRunning)), event(removed, task("t", 11, api.TaskStateRunning)),
		event(removed, task("never seen", 1, api.TaskStateNew)))
	at.wait(t, "the task is gone", func(s *collector.State) bool { return s.Task("t") == nil })
}

func TestWhatAListingLacksDoesNotComeBackOlderThanItWas(t *testing.T) {
	t.Parallel()
	var gone atomic.Bool
	f := &fake{listTasks: func() []*api.Task {
		if gone.Load() {
			return nil
		}
		return []*api.Task{task("t", 10, api.TaskStateAssigned)}
	}}
	source := f.serve(t)
	source.relist = 20 * time.Millisecond
	at := follow(t, source)
	at.waitLive(t)
	gone.Store(true)
	at.wait(t, "a listing lacks the task", func(s *collector.State) bool { return s.Task("t") == nil })
	f.send(t, event(updated, task("t", 9, api.TaskStateNew)), event(created, task("marker", 1, api.TaskStateNew)))
	if state := at.wait(t, "the marker came", func(s *collector.State) bool { return s.Task("marker") != nil }); state.Task("t") != nil {
		t.Errorf("the task came back with version %d", version(state.Task("t")))
	}
}

func TestEveryKindOfObjectIsFollowed(t *testing.T) {
	t.Parallel()
	f := &fake{}
	at := follow(t, f.serve(t))
	at.waitLive(t)
	f.send(t,
		&api.WatchMessage_Event{Action: created, Object: &api.Object{Object: &api.Object_Node{Node: &api.Node{ID: "n"}}}},
		&api.WatchMessage_Event{Action: created, Object: &api.Object{Object: &api.Object_Service{Service: &api.Service{ID: "s"}}}},
		&api.WatchMessage_Event{Action: created, Object: &api.Object{Object: &api.Object_Network{Network: &api.Network{ID: "w"}}}},
		&api.WatchMessage_Event{Action: created, Object: &api.Object{Object: &api.Object_Volume{Volume: &api.Volume{ID: "v"}}}},
		event(created, task("t", 1, api.TaskStateNew)))
	at.wait(t, "all have come in one change", func(s *collector.State) bool {
		return s.Node("n") != nil && s.Service("s") != nil && s.Network("w") != nil && s.Volume("v") != nil && s.Task("t") != nil
	})
}

func TestWhatChangesDuringTheListingIsNotLost(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.listTasks = func() []*api.Task {
		// The listing is taken, then both tasks change before it arrives.
		f.send(t, event(updated, task("old", 7, api.TaskStateRunning)), event(created, task("new", 7, api.TaskStateNew)))
		return []*api.Task{task("old", 5, api.TaskStateAssigned)}
	}
	at := follow(t, f.serve(t))
	at.wait(t, "both changes are there", func(s *collector.State) bool {
		return s.Task("new") != nil && s.Task("old").Status.State == api.TaskStateRunning
	})
}

func TestAWatchThatBreaksDuringTheListingIsTriedAgain(t *testing.T) {
	t.Parallel()
	f := &fake{}
	var watches atomic.Int32
	f.watch = func(stream api.Watch_WatchServer) error {
		if err := stream.Send(&api.WatchMessage{}); err != nil {
			return err
		}
		if watches.Add(1) == 1 {
			return status.Error(codes.Unavailable, "going away")
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	f.listTasks = func() []*api.Task { return []*api.Task{task(fmt.Sprint("task ", watches.Load()), 1, api.TaskStateNew)} }
	source, store := f.serve(t), collector.NewStore()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	silent := logrus.New()
	silent.SetOutput(io.Discard)
	var broke error
	collector.Keep(ctx, source, store, logrus.NewEntry(silent), func(connected bool, err error) {
		switch {
		case !connected:
			broke = err
		case watches.Load() == 2:
			cancel()
		}
	})
	if broke == nil || !strings.Contains(broke.Error(), "going away") {
		t.Errorf("error = %v, want the manager's words", broke)
	}
	if state := store.Snapshot(); state.Task("task 2") == nil || state.Task("task 1") != nil {
		t.Errorf("the store holds %v, want the second listing alone", contents(state))
	}
}

func TestASwarmWithoutALeaderIsNoticedThoughWatchStaysOpen(t *testing.T) {
	t.Parallel()
	const lost = "The swarm does not have a leader. It's possible that too few managers are online."
	for name, test := range map[string]struct {
		answer func(context.Context) error
		want   string
		is     error
	}{
		"it says so": {func(context.Context) error { return status.Error(codes.Unknown, lost) }, "list nodes: " + lost, nil},
		"it hangs": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"list nodes: no answer in time: the swarm has no leader, or dockerd hangs", context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{listNodes: func(ctx context.Context, call int) ([]*api.Node, error) {
				if call == 1 {
					return nil, nil
				}
				return nil, test.answer(ctx)
			}}
			source := f.serve(t)
			source.answer = 200 * time.Millisecond
			at := follow(t, source)
			at.waitLive(t)
			err := at.waitEnd(t)
			if !strings.HasSuffix(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error = %q, want %q", err, test.want)
			}
		})
	}
}

func TestOnlyAChangedManagerStatusIsAChange(t *testing.T) {
	t.Parallel()
	var unreachable atomic.Bool
	asked := make(chan struct{})
	f := &fake{listNodes: func(ctx context.Context, call int) ([]*api.Node, error) {
		if call > 1 {
			select {
			case asked <- struct{}{}:
			case <-ctx.Done():
			}
		}
		if unreachable.Load() {
			return []*api.Node{leader(api.RaftMemberStatus_UNREACHABLE)}, nil
		}
		return []*api.Node{leader(api.RaftMemberStatus_REACHABLE)}, nil
	}}
	at := follow(t, f.serve(t))
	at.waitLive(t)
	changed, before := at.store.Changed(), at.store.Snapshot().AsOf
	for range 5 {
		<-asked
	}
	select {
	case <-changed:
		t.Error("five equal answers changed the store")
	default:
	}
	if !at.store.Snapshot().AsOf.After(before) {
		t.Error("an answer did not refresh AsOf")
	}
	unreachable.Store(true)
	<-asked // at the latest the answer to the question after this one tells
	<-asked
	at.wait(t, "the leader is unreachable", func(s *collector.State) bool {
		return s.Node("leader").ManagerStatus.Reachability == api.RaftMemberStatus_UNREACHABLE
	})
}

func TestAManagerWithoutClusterVolumesIsFollowed(t *testing.T) {
	t.Parallel()
	f := &fake{volumes: func() ([]*api.Volume, error) {
		return nil, status.Error(codes.Unimplemented, "unknown method ListVolumes")
	}}
	at := follow(t, f.serve(t))
	at.waitLive(t)
	if gaps := at.store.Snapshot().Gaps; len(gaps) != 0 {
		t.Errorf("gaps = %v, want none", gaps)
	}
}

func TestAManagerThatIsNotReadyIsAnError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manager *fake
		want    string
	}{
		"it holds no cluster yet": {&fake{clusters: func() []*api.Cluster { return nil }}, "still starting"},
		"its Watch is never established": {&fake{watch: func(s api.Watch_WatchServer) error { <-s.Context().Done(); return nil }},
			"watch: no answer in time"},
		"it refuses a listing": {&fake{volumes: func() ([]*api.Volume, error) { return nil, status.Error(codes.Internal, "disk full") }},
			"list volumes: disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := test.manager.serve(t)
			source.answer = 300 * time.Millisecond
			at := follow(t, source)
			if err := at.waitEnd(t); !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want %q", err, test.want)
			}
			if len(at.live) != 0 {
				t.Error("the source said that it is live")
			}
		})
	}
}

func TestNoSecretOfTheClusterIsKept(t *testing.T) {
	t.Parallel()
	const marker = "SWMTKN-marker"
	f := &fake{clusters: func() []*api.Cluster {
		return []*api.Cluster{{
			ID: "c1", Spec: api.ClusterSpec{Annotations: api.Annotations{Name: "default", Labels: map[string]string{"l": marker}}},
			RootCA:     api.RootCA{CAKey: []byte(marker), JoinTokens: api.JoinTokens{Worker: marker, Manager: marker}},
			UnlockKeys: []*api.EncryptionKey{{Key: []byte(marker)}},
		}}
	}}
	at := follow(t, f.serve(t))
	at.waitLive(t)
	about := at.store.Snapshot().About
	if about.ClusterID != "c1" || about.ClusterName != "default" {
		t.Errorf("about = %+v", about)
	}
	if strings.Contains(fmt.Sprintf("%+v", about), marker) {
		t.Errorf("about holds a secret: %+v", about)
	}
}
