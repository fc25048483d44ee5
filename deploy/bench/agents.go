package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/state"
	"github.com/moby/swarmkit/v2/manager/state/store"
)

// failurePause is the time between two failures of tasks. Each is followed by about eleven events, until another task runs in
// its place: together some 50 a second.
const failurePause = 220 * time.Millisecond

// agents play the nodes' part and the allocator's: each task that is placed goes through all states until it runs, and while
// churn is on, some fail.
type agents struct {
	store  *store.MemoryStore
	apps   []string // ids of the services whose tasks fail
	churn  atomic.Bool
	events atomic.Int64 // changes of tasks so far
}

func newAgents(swarm *store.MemoryStore) *agents {
	a := &agents{store: swarm}
	swarm.View(func(tx store.ReadTx) {
		all, err := store.FindServices(tx, store.All)
		if err != nil {
			panic(err) // the store knows this search
		}
		for _, s := range all {
			if strings.HasPrefix(s.Spec.Annotations.Name, "app") {
				a.apps = append(a.apps, s.ID)
			}
		}
	})
	slices.Sort(a.apps)
	return a
}

func (a *agents) run(ctx context.Context) {
	changes, cancel := state.Watch(a.store.WatchQueue(), api.EventCreateTask{}, api.EventUpdateTask{}, api.EventDeleteTask{})
	defer cancel()
	failures := time.NewTicker(failurePause)
	defer failures.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case change := <-changes:
			a.events.Add(1)
			switch c := change.(type) {
			case api.EventCreateTask:
				a.advance(c.Task)
			case api.EventUpdateTask:
				a.advance(c.Task)
			}
		case <-failures.C:
			if a.churn.Load() {
				a.fail()
			}
		}
	}
}

// advance brings a task into its next state, if there is one.
func (a *agents) advance(t *api.Task) {
	next, moves := nextState(t)
	if !moves {
		return
	}
	a.update(t.ID, func(tx store.Tx, t *api.Task) {
		if now, is := nextState(t); !is || now != next {
			return
		}
		at := gogotypes.TimestampNow()
		t.Status.State, t.Status.Message, t.Status.Timestamp, t.Status.AppliedAt = next, strings.ToLower(next.String()), at, at
		switch next {
		case api.TaskStatePending: // the allocator's part
			if s := store.GetService(tx, t.ServiceID); s != nil {
				t.Endpoint = s.Endpoint.Copy()
			}
			t.Meta.CreatedAt = at // a store without raft leaves that out
			t.Networks = []*api.NetworkAttachment{{Network: &api.Network{ID: t.Spec.Networks[0].Target}, Addresses: []string{"10.255.0.9/8"}}}
		case api.TaskStateRunning:
			t.Status = running(at, t.NodeID, t.ID+t.ID)
		}
	})
}

// nextState is what a task becomes next without anybody else's doing.
func nextState(t *api.Task) (next api.TaskState, moves bool) {
	steps := []api.TaskState{api.TaskStateAssigned, api.TaskStateAccepted, api.TaskStatePreparing, api.TaskStateReady, api.TaskStateStarting, api.TaskStateRunning}
	at := slices.Index(steps, t.Status.State)
	switch {
	case t.Status.State == api.TaskStateNew:
		return api.TaskStatePending, true
	case at < 0:
		return 0, false
	case t.DesiredState >= api.TaskStateShutdown:
		return api.TaskStateShutdown, true
	case at+1 < len(steps) && steps[at] < t.DesiredState:
		return steps[at+1], true
	}
	return 0, false
}

// fail ends a task of some service.
func (a *agents) fail() {
	var tasks []*api.Task
	a.store.View(func(tx store.ReadTx) {
		var err error
		if tasks, err = store.FindTasks(tx, store.ByServiceID(a.apps[rand.IntN(len(a.apps))])); err != nil {
			panic(err) // the store knows this search
		}
	})
	for _, i := range rand.Perm(len(tasks)) {
		if tasks[i].Status.State != api.TaskStateRunning {
			continue
		}
		a.update(tasks[i].ID, func(_ store.Tx, t *api.Task) {
			t.Status.State, t.Status.Err, t.Status.Timestamp = api.TaskStateFailed, "task: non-zero exit (1)", gogotypes.TimestampNow()
		})
		return
	}
}

func (a *agents) update(id string, change func(store.Tx, *api.Task)) {
	err := a.store.Update(func(tx store.Tx) error {
		t := store.GetTask(tx, id)
		if t == nil {
			return nil
		}
		t = t.Copy()
		change(tx, t)
		return store.UpdateTask(tx, t)
	})
	if err != nil {
		panic(fmt.Sprintf("update task %s: %v", id, err)) // no other reason than a task that is gone
	}
}
