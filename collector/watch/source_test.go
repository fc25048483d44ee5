package watch

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/node"

	"github.com/swarmdiag/swarmdiag/collector"
)

// Tests that create services are not parallel: the schedulers of two managers in one process would share their filters
// (defaultFilters in swarmkit's manager/scheduler).

func TestWhatHappensInASwarmIsSeen(t *testing.T) {
	m := startManager(t, nil)
	control := m.control(t)
	before := create(t, control, replicated("before", "runs", 2))

	f := follow(t, New(m.socket))
	f.waitLive(t)
	state := f.store.Snapshot()
	if state.Source != "watch" || state.ClusterID == "" || state.ClusterName != "default" || time.Since(state.AsOf) > patience {
		t.Errorf("about = %+v", state.About)
	}
	if state.Service(before.ID) == nil {
		t.Error("a service that was there before is not in the first state")
	}

	stuck := replicated("stuck", "runs", 1)
	stuck.Task.Placement = &api.Placement{Constraints: []string{"node.labels.disk==ssd"}}
	after := create(t, control, stuck)
	f.wait(t, "the service before runs", func(s *collector.State) bool { return running(s, before.ID) == 2 })
	f.wait(t, "the scheduler says why the task waits", func(s *collector.State) bool {
		for task := range s.TasksOf(after.ID) {
			return strings.Contains(task.Status.Err, "no suitable node")
		}
		return false
	})
	if _, err := control.RemoveService(t.Context(), &api.RemoveServiceRequest{ServiceID: after.ID}); err != nil {
		t.Fatal(err)
	}
	f.wait(t, "the service and its task are gone", func(s *collector.State) bool {
		for range s.TasksOf(after.ID) {
			return false
		}
		return s.Service(after.ID) == nil
	})
}

func TestOneReadingIsEnoughForOnce(t *testing.T) {
	m := startManager(t, nil)
	web := create(t, m.control(t), replicated("web", "runs", 1))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	state, err := collector.Once(ctx, New(m.socket))
	if err != nil {
		t.Fatal(err)
	}
	if state.Service(web.ID) == nil {
		t.Error("the service is missing")
	}
}

func TestAStoppedManagerIsNoticedAndFoundAgain(t *testing.T) {
	m := startManager(t, nil)
	first := create(t, m.control(t), replicated("first", "runs", 1))
	f := follow(t, New(m.socket))
	f.waitLive(t)

	m.stop(t)
	err := f.waitEnd(t)
	if !strings.HasPrefix(err.Error(), "control socket "+m.socket+": ") || !strings.Contains(err.Error(), "the manager hung up") {
		t.Errorf("error = %v, want one that says which socket broke and why", err)
	}
	f.again(t, New(m.socket))
	if err := f.waitEnd(t); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no manager") {
		t.Errorf("error = %v, want one that says that there is no socket", err)
	}

	m.start(t)
	second := create(t, m.control(t), replicated("second", "runs", 1))
	f.again(t, New(m.socket))
	f.waitLive(t)
	f.wait(t, "both services run", func(s *collector.State) bool {
		return running(s, first.ID) == 1 && running(s, second.ID) == 1
	})
}

func TestEventsOfANodeLeaveItsManagerStatusAlone(t *testing.T) {
	t.Parallel()
	m := startManager(t, nil)
	control := m.control(t)
	source := New(m.socket)
	source.pulse = time.Hour // only the listing at the start tells the status
	f := follow(t, source)
	f.waitLive(t)
	labelNode(t, control, "disk", "ssd")
	state := f.wait(t, "the label is there", func(s *collector.State) bool {
		for n := range s.Nodes() {
			return n.Spec.Annotations.Labels["disk"] == "ssd"
		}
		return false
	})
	for n := range state.Nodes() {
		if n.ManagerStatus == nil || !n.ManagerStatus.Leader {
			t.Errorf("manager status = %v, want that of the leader", n.ManagerStatus)
		}
	}
}

func TestALockedManagerHasNoControlSocket(t *testing.T) {
	t.Parallel()
	m := startManager(t, func(c *node.Config) { c.AutoLockManagers = true })
	m.stop(t)
	config := m.config
	locked, err := node.New(&config)
	if err != nil {
		t.Fatal(err)
	}
	if err := locked.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := locked.Err(ctx); !errors.Is(err, node.ErrInvalidUnlockKey) {
		t.Fatalf("the node says %v, want that it is locked", err)
	}
	f := follow(t, New(m.socket))
	if err := f.waitEnd(t); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "docker swarm unlock") {
		t.Errorf("error = %v, want one that names docker swarm unlock", err)
	}
}

func TestASwarmThatLosesItsQuorumIsNoticed(t *testing.T) {
	t.Parallel()
	first := startManager(t, nil)
	second := joinManager(t, first)
	source := New(first.socket)
	source.pulse, source.answer = 100*time.Millisecond, time.Second
	f := follow(t, source)
	f.waitLive(t)
	f.wait(t, "both managers are known", func(s *collector.State) bool {
		reachable := 0
		for n := range s.Nodes() {
			if n.ManagerStatus != nil && n.ManagerStatus.Reachability == api.RaftMemberStatus_REACHABLE {
				reachable++
			}
		}
		return reachable == 2
	})

	second.stop(t)
	for late := time.Now().Add(2 * patience); ; f.again(t, source) {
		err := f.waitEnd(t)
		if strings.Contains(err.Error(), "The swarm does not have a leader") {
			return
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Now().After(late) {
			t.Fatalf("error = %v, want at first that nothing answers, then Docker's own words", err)
		}
	}
}

// joinManager runs a second manager of the same swarm.
func joinManager(t *testing.T, first *manager) *manager {
	t.Helper()
	clusters, err := first.control(t).ListClusters(t.Context(), &api.ListClustersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	remotes := first.node.Remotes()
	if len(remotes) == 0 {
		t.Fatal("the first manager has no remote address")
	}
	return startManager(t, func(c *node.Config) {
		c.Hostname, c.JoinAddr, c.JoinToken = "second", remotes[0].Addr, clusters.Clusters[0].RootCA.JoinTokens.Manager
	})
}
