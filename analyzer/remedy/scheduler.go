package remedy

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/log"
	"github.com/moby/swarmkit/v2/manager/scheduler"
	"github.com/moby/swarmkit/v2/manager/state/store"
	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Placement is what swarmkit's scheduler did with tasks.
type Placement struct {
	// On is the id of the node that a task was placed on, by the task's id; those that were not placed are not there.
	On map[string]string
	// Err is what the scheduler wrote to a task that it did not place, by the task's id.
	Err map[string]string
}

// one keeps schedulers apart: all of a process share their filters (manager/scheduler.defaultFilters).
var one sync.Mutex

// Place lets swarmkit's scheduler place pending tasks in the state, which need not be in it themselves; all that waits
// besides them is left out. An error means that the state could not be copied, or that ctx ended.
func Place(ctx context.Context, state *collector.State, tasks []*api.Task) (Placement, error) {
	return place(ctx, state, filters.NewCluster(state), tasks)
}

func place(ctx context.Context, state *collector.State, cluster *filters.Cluster, tasks []*api.Task) (Placement, error) {
	copied, err := seed(state, cluster, tasks)
	if err != nil {
		return Placement{}, err
	}
	defer copied.Close()
	one.Lock()
	defer one.Unlock()
	if err := ctx.Err(); err != nil {
		return Placement{}, fmt.Errorf("place %d tasks: %w", len(tasks), err)
	}
	if err := runOnce(copied); err != nil {
		return Placement{}, err
	}
	return read(copied, tasks), nil
}

// seed makes a store with the folded cluster and the tasks.
func seed(state *collector.State, cluster *filters.Cluster, tasks []*api.Task) (*store.MemoryStore, error) {
	small := fold(cluster, tasks)
	copied := store.NewMemoryStore(nil)
	err := copied.Update(func(tx store.Tx) error {
		for _, n := range small.nodes {
			if err := store.CreateNode(tx, n); err != nil {
				return fmt.Errorf("copy node %s: %w", n.ID, err)
			}
		}
		for _, id := range servicesOf(tasks) {
			if s := state.Service(id); s != nil {
				service := *s // the store writes to what it is given
				if err := store.CreateService(tx, &service); err != nil {
					return fmt.Errorf("copy service %s: %w", id, err)
				}
			}
		}
		for v := range state.Volumes() {
			volume := *v
			if volume.Spec.Driver == nil { // the store asks for one; the scheduler compares it with the nodes' only
				volume.Spec.Driver = &api.Driver{Name: "unknown"}
			}
			if err := store.CreateVolume(tx, &volume); err != nil {
				return fmt.Errorf("copy volume %s: %w", v.ID, err)
			}
		}
		for _, t := range slices.Concat(small.tasks, fresh(cluster, tasks)) {
			if err := store.CreateTask(tx, t); err != nil {
				return fmt.Errorf("copy task %s: %w", t.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		copied.Close()
		return nil, err
	}
	return copied, nil
}

// fresh are pending tasks of which no scheduler has said anything yet.
func fresh(cluster *filters.Cluster, tasks []*api.Task) []*api.Task {
	all := make([]*api.Task, len(tasks))
	for i, t := range tasks {
		pending := *t
		pending.Status = api.TaskStatus{State: api.TaskStatePending}
		if nodes := cluster.Nodes(); len(nodes) > 0 && len(filters.ClusterMounts(t)) > 0 {
			if _, skipped := cluster.VolumeRefusals(t, nodes[0]); !skipped {
				judgeClusterMounts(&pending)
			}
		}
		all[i] = &pending
	}
	return all
}

// judgeClusterMounts puts the cluster volumes of a task last. The swarmkit that runs here judges the last mount only, as
// managers before Docker 29.1 do; later ones judge cluster volumes wherever they stand.
func judgeClusterMounts(t *api.Task) {
	t.Spec = *t.Spec.Copy()
	c := t.Spec.GetContainer()
	slices.SortStableFunc(c.Mounts, func(a, b api.Mount) int {
		switch aIs, bIs := a.Type == api.MountTypeCluster, b.Type == api.MountTypeCluster; {
		case aIs == bIs:
			return 0
		case bIs:
			return -1
		}
		return 1
	})
}

// runOnce lets a scheduler look at everything once, and waits for it. It is told to stop before it starts, which it looks
// at after its first round (manager/scheduler.Scheduler.Run); nothing ends meanwhile, so that a second would place no more.
func runOnce(copied *store.MemoryStore) error {
	s := scheduler.New(copied)
	var stop sync.WaitGroup
	stop.Go(s.Stop)
	err := s.Run(log.WithLogger(context.Background(), silent))
	stop.Wait()
	if err != nil {
		return fmt.Errorf("run the scheduler on a copy: %w", err)
	}
	return nil
}

// silent takes what the scheduler logs: it speaks of a copy.
var silent = logrus.NewEntry(&logrus.Logger{Out: io.Discard, Level: logrus.PanicLevel})

func read(copied *store.MemoryStore, tasks []*api.Task) Placement {
	p := Placement{On: map[string]string{}, Err: map[string]string{}}
	copied.View(func(tx store.ReadTx) {
		for _, t := range tasks {
			switch placed := store.GetTask(tx, t.ID); {
			case placed == nil:
			case placed.Status.State >= api.TaskStateAssigned && len(placed.Volumes) < len(filters.ClusterMounts(t)):
				// The scheduler assigns a task although it found no volume for it (Scheduler.scheduleNTasksOnNodes).
				p.Err[t.ID] = "assigned without its cluster volumes"
			case placed.Status.State >= api.TaskStateAssigned:
				p.On[t.ID] = placed.NodeID
			default:
				p.Err[t.ID] = placed.Status.Err
			}
		}
	})
	return p
}
