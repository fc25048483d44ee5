package collector

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/go-memdb"
	"github.com/moby/swarmkit/v2/api"
)

// group is the tasks with the same key, by id. It is never changed, only replaced. In groups a task takes a fifth of the memory
// that it takes as a row of its own with its index entries, which would be more than the task itself.
type group struct {
	key   string
	tasks []*api.Task
}

// groupings are the tables that hold every task, in groups; a task whose key is empty is in none of that table.
var groupings = []struct {
	table string
	key   func(*api.Task) string
}{
	{tableTask, func(t *api.Task) string { return firstDigits(t.ID) }},
	{tableOfService, func(t *api.Task) string { return t.ServiceID }},
	{tableOnNode, func(t *api.Task) string { return t.NodeID }},
}

// firstDigits are the first two of an id, which is drawn at random (swarmkit's package identity): that makes 1296 groups.
func firstDigits(id string) string { return id[:min(2, len(id))] }

func position(tasks []*api.Task, id string) (at int, found bool) {
	return slices.BinarySearchFunc(tasks, id, func(t *api.Task, id string) int { return cmp.Compare(t.ID, id) })
}

func taskWith(txn *memdb.Txn, id string) *api.Task {
	if g := first[group](txn, tableTask, indexID, firstDigits(id)); g != nil {
		if at, found := position(g.tasks, id); found {
			return g.tasks[at]
		}
	}
	return nil
}

// allTasks yields every task, by id.
func allTasks(txn *memdb.Txn) iter.Seq[*api.Task] {
	return func(yield func(*api.Task) bool) {
		for g := range all[group](txn, tableTask, indexID) {
			for _, t := range g.tasks {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// regrouping is what one transaction does to the groups: by table, key of the group and id of the task, the task as it is now, or
// nil where it is gone from the group.
type regrouping map[string]map[string]map[string]*api.Task

func newRegrouping() regrouping {
	r := regrouping{}
	for _, g := range groupings {
		r[g.table] = map[string]map[string]*api.Task{}
	}
	return r
}

// held is the task as the transaction has it by now, or nil.
func (r regrouping) held(txn *memdb.Txn, id string) *api.Task {
	if t, changed := r[tableTask][firstDigits(id)][id]; changed {
		return t
	}
	return taskWith(txn, id)
}

// leave takes a task out of its groups, enter puts it into them.
func (r regrouping) leave(t *api.Task) { r.set(t, nil) }
func (r regrouping) enter(t *api.Task) { r.set(t, t) }

func (r regrouping) set(t, as *api.Task) {
	for _, g := range groupings {
		key := g.key(t)
		if key == "" {
			continue
		}
		if r[g.table][key] == nil {
			r[g.table][key] = map[string]*api.Task{}
		}
		r[g.table][key][t.ID] = as
	}
}

// apply writes the groups.
func (r regrouping) apply(txn *memdb.Txn) error {
	for table, groups := range r {
		for key, tasks := range groups {
			now := &group{key: key, tasks: regrouped(first[group](txn, table, indexID, key), tasks)}
			write := txn.Insert
			if len(now.tasks) == 0 {
				write = txn.Delete
			}
			if err := write(table, now); err != nil && !errors.Is(err, memdb.ErrNotFound) {
				return fmt.Errorf("group tasks in %s: %w", table, err)
			}
		}
	}
	return nil
}

func regrouped(before *group, changed map[string]*api.Task) []*api.Task {
	var tasks []*api.Task
	if before != nil {
		tasks = slices.Clone(before.tasks)
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		at, found := position(tasks, id)
		switch now := changed[id]; {
		case found && now == nil:
			tasks = slices.Delete(tasks, at, at+1)
		case found:
			tasks[at] = now
		case now != nil:
			tasks = slices.Insert(tasks, at, now)
		}
	}
	return slices.Clip(tasks)
}
