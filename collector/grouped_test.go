package collector

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"
)

func TestTasksAreFoundAsInAPlainMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		store, plain := NewStore(), map[string]*api.Task{}
		some := rapid.Custom(func(t *rapid.T) *api.Task {
			return &api.Task{
				ID:        rapid.SampledFrom([]string{"a", "ab", "abc", "abd", "b", "ba1", "ba2"}).Draw(t, "id"),
				ServiceID: rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "service"),
				NodeID:    rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(t, "node"),
			}
		})
		for range rapid.IntRange(1, 8).Draw(t, "writes") {
			tasks := rapid.SliceOfN(some, 0, 5).Draw(t, "tasks")
			var objects []any
			for _, task := range tasks {
				objects = append(objects, task)
			}
			var err error
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				err = store.Put(objects...)
			case 1:
				clear(plain)
				err = store.Replace(objects)
			case 2:
				err = store.Remove(objects...)
				for _, task := range tasks {
					delete(plain, task.ID)
				}
				tasks = nil
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range tasks {
				plain[task.ID] = task
			}
			compareWithPlain(t, store.Snapshot(), plain)
		}
	})
}

func compareWithPlain(t *rapid.T, state *State, plain map[string]*api.Task) {
	var of, on [3][]string
	for _, id := range slices.Sorted(maps.Keys(plain)) {
		for i := range 3 {
			if plain[id].ServiceID == fmt.Sprint("s", i) {
				of[i] = append(of[i], id)
			}
			if plain[id].NodeID == fmt.Sprint("n", i) {
				on[i] = append(on[i], id)
			}
		}
		if task := state.Task(id); task == nil || task.ServiceID != plain[id].ServiceID || task.NodeID != plain[id].NodeID {
			t.Errorf("task %s is %v", id, task)
		}
	}
	var want, got []string
	want = slices.AppendSeq(want, maps.Keys(plain))
	slices.Sort(want)
	got = ids(state.Tasks())
	if !slices.Equal(want, got) {
		t.Errorf("all tasks: want %v, got %v", want, got)
	}
	for i := range 3 {
		if diff := cmp.Diff(of[i], ids(state.TasksOf(fmt.Sprint("s", i)))); diff != "" {
			t.Errorf("tasks of s%d: %s", i, diff)
		}
		if diff := cmp.Diff(on[i], ids(state.TasksOn(fmt.Sprint("n", i)))); diff != "" {
			t.Errorf("tasks on n%d: %s", i, diff)
		}
	}
}
