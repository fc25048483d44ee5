package oracle

import (
	"context"
	"fmt"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/state/store"

	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
)

// Scheduler is swarmkit's, over a store of its own.
type Scheduler struct {
	store *store.MemoryStore
}

// NewScheduler fills a store with all of the cluster but its pending tasks.
func NewScheduler(c *Cluster) (*Scheduler, error) {
	s := &Scheduler{store.NewMemoryStore(nil)}
	if err := s.store.Update(c.seed); err != nil {
		s.Close()
		return nil, fmt.Errorf("fill the store: %w", err)
	}
	return s, nil
}

// Close ends the store.
func (s *Scheduler) Close() {
	_ = s.store.Close() // an error means that it is closed already
}

// Place returns the pending tasks, by id, with the node that the scheduler chose for each or with what it says of it. It
// runs as a new leader's does, over everything at once, and again until nothing more is placed, so that what it says is of
// the cluster as it is then. Afterwards the tasks are out of the store again. Swarmkit logs to the logger in ctx.
func (s *Scheduler) Place(ctx context.Context, pending []*api.Task) (map[string]*api.Task, error) {
	if err := s.store.Update(func(tx store.Tx) error { return create(tx, store.CreateTask, pending) }); err != nil {
		return nil, fmt.Errorf("fill the store: %w", err)
	}
	for before, left := -1, len(pending); left > 0 && left != before; {
		if err := remedy.Schedule(ctx, s.store); err != nil {
			return nil, err
		}
		before = left
		still, err := s.pending()
		if err != nil {
			return nil, err
		}
		left = still
	}
	return s.take(pending)
}

// pending counts the tasks that are.
func (s *Scheduler) pending() (int, error) {
	var tasks []*api.Task
	var err error
	s.store.View(func(tx store.ReadTx) { tasks, err = store.FindTasks(tx, store.ByTaskState(api.TaskStatePending)) })
	if err != nil {
		return 0, fmt.Errorf("list pending tasks: %w", err)
	}
	return len(tasks), nil
}

// take removes the tasks from the store and returns them as they were there.
func (s *Scheduler) take(tasks []*api.Task) (map[string]*api.Task, error) {
	taken := make(map[string]*api.Task, len(tasks))
	err := s.store.Update(func(tx store.Tx) error {
		for _, t := range tasks {
			taken[t.ID] = store.GetTask(tx, t.ID)
			if err := store.DeleteTask(tx, t.ID); err != nil {
				return fmt.Errorf("delete task %s: %w", t.ID, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("empty the store: %w", err)
	}
	return taken, nil
}

func (c *Cluster) seed(tx store.Tx) error {
	var tasks []*api.Task
	for _, t := range c.Tasks {
		if t.Status.State != api.TaskStatePending {
			tasks = append(tasks, t)
		}
	}
	if err := create(tx, store.CreateNode, c.Nodes); err != nil {
		return err
	}
	if err := create(tx, store.CreateVolume, c.Volumes); err != nil {
		return err
	}
	if err := create(tx, store.CreateService, c.Services); err != nil {
		return err
	}
	return create(tx, store.CreateTask, tasks)
}

func create[T interface{ GetID() string }](tx store.Tx, one func(store.Tx, T) error, objects []T) error {
	for _, o := range objects {
		if err := one(tx, o); err != nil {
			return fmt.Errorf("create %s: %w", o.GetID(), err)
		}
	}
	return nil
}
