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

// Place lets swarmkit's scheduler place pending tasks in the state, which need not be in it themselves; all that waits
// besides them is left out. An error means that the state could not be copied, or that ctx ended.
func Place(ctx context.Context, state *collector.State, tasks []*api.Task) (Placement, error) {
	cluster := filters.NewCluster(state)
	tasks = fresh(cluster, tasks)
	take, _ := divide(cluster, tasks)
	return schedule(ctx, state, fold(cluster, cluster.Nodes(), take, tasks), tasks)
}

// place returns where the scheduler places tasks, as Placement.On. Nodes that take none of them are left out, so that what
// it says to the others would count too few.
func place(ctx context.Context, state *collector.State, cluster *filters.Cluster, tasks []*api.Task) (map[string]string, error) {
	tasks = fresh(cluster, tasks)
	take, refuse := divide(cluster, tasks)
	if len(take) == 0 {
		return nil, nil
	}
	small := fold(cluster, take, take, tasks)
	small.branches(refuse, tasks)
	placed, err := schedule(ctx, state, small, tasks)
	return placed.On, err
}

// schedule runs the scheduler over a folded cluster with tasks that wait.
func schedule(ctx context.Context, state *collector.State, small *folded, tasks []*api.Task) (Placement, error) {
	if err := ctx.Err(); err != nil {
		return Placement{}, fmt.Errorf("place %d tasks: %w", len(tasks), err)
	}
	copied, err := seed(state, small, tasks)
	if err != nil {
		return Placement{}, err
	}
	defer copied.Close()
	if err := Schedule(log.WithLogger(context.Background(), silent), copied); err != nil {
		return Placement{}, fmt.Errorf("place %d tasks: %w", len(tasks), err)
	}
	return read(copied, tasks), nil
}

// seed makes a store with the folded cluster and the tasks.
func seed(state *collector.State, small *folded, tasks []*api.Task) (*store.MemoryStore, error) {
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
		for _, t := range slices.Concat(small.tasks, tasks) {
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

// one keeps schedulers apart: all of a process share their filters (manager/scheduler.defaultFilters).
var one sync.Mutex

// Schedule lets swarmkit's scheduler look at everything in a store once, as that of a new leader does, and waits for it. It
// logs to the logger in ctx, whose end it does not heed. An error means that the store cannot be read.
//
// The scheduler is told to stop before it starts, which it looks at after its first round
// (manager/scheduler.Scheduler.Run); nothing ends meanwhile, so that a second would place no more.
func Schedule(ctx context.Context, swarm *store.MemoryStore) error {
	one.Lock()
	defer one.Unlock()
	s := scheduler.New(swarm)
	var stop sync.WaitGroup
	stop.Go(s.Stop)
	err := s.Run(ctx)
	stop.Wait()
	if err != nil {
		return fmt.Errorf("run swarmkit's scheduler: %w", err)
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
