package collector

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

func ids(tasks func(func(*api.Task) bool)) []string {
	var found []string
	for task := range tasks {
		found = append(found, task.ID)
	}
	return found
}

func put(t *testing.T, store *Store, objects ...any) {
	t.Helper()
	if err := store.Put(objects...); err != nil {
		t.Fatal(err)
	}
}

func told(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestObjectsAreFoundByIDNameServiceAndNode(t *testing.T) {
	t.Parallel()
	store := NewStore()
	named := func(id, name string) *api.Service {
		return &api.Service{ID: id, Spec: api.ServiceSpec{Annotations: api.Annotations{Name: name}}}
	}
	put(t, store, named("s1", "web"), named("s2", "api"), &api.Node{ID: "n1"}, &api.Network{ID: "net1"}, &api.Volume{ID: "v1"},
		&api.Task{ID: "t3", ServiceID: "s1", NodeID: "n1"}, &api.Task{ID: "t1", ServiceID: "s1"},
		&api.Task{ID: "t2", ServiceID: "s10", NodeID: "n1"}, &api.Secret{ID: "never"})
	state := store.Snapshot()
	if state.Node("n1") == nil || state.Service("s2") == nil || state.Task("t1") == nil || state.Network("net1") == nil || state.Volume("v1") == nil {
		t.Error("an object is not found by its id")
	}
	if state.Node("n") != nil || state.ServiceNamed("we") != nil || state.Task("never") != nil {
		t.Error("something is found that is not there")
	}
	if s := state.ServiceNamed("web"); s == nil || s.ID != "s1" {
		t.Errorf("service named web: %v", s)
	}
	var names []string
	for s := range state.Services() {
		names = append(names, s.Spec.Annotations.Name)
	}
	if diff := cmp.Diff([]string{"api", "web"}, names); diff != "" {
		t.Errorf("services by name: %s", diff)
	}
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"all", ids(state.Tasks()), []string{"t1", "t2", "t3"}},
		{"of s1, and not of s10", ids(state.TasksOf("s1")), []string{"t1", "t3"}},
		{"on n1", ids(state.TasksOn("n1")), []string{"t2", "t3"}},
		{"of no service", ids(state.TasksOf("")), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("tasks %s: %s", c.name, diff)
		}
	}
}

func TestASnapshotStaysWhatItWas(t *testing.T) {
	t.Parallel()
	store := NewStore()
	put(t, store, &api.Task{ID: "t1", NodeID: "n1"}, &api.Task{ID: "t2", NodeID: "n1"})
	state := store.Snapshot()
	var writer, readers sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		for i := range 200 {
			_ = store.Put(&api.Task{ID: "t1", NodeID: fmt.Sprint("n", i)}, &api.Task{ID: fmt.Sprint("new", i)})
			_ = store.Remove(&api.Task{ID: "t2"})
			_ = store.Replace([]any{&api.Task{ID: "t9"}})
			store.Describe(About{Source: fmt.Sprint(i)})
			store.Confirm(time.Unix(int64(i), 0))
		}
		close(done)
	})
	for range 3 {
		readers.Go(func() {
			for reading := true; reading; {
				select {
				case <-done:
					reading = false
				case <-store.Changed():
				}
				_ = store.Snapshot().Source
				if got := ids(state.TasksOn("n1")); !slices.Equal(got, []string{"t1", "t2"}) || state.Source != "" {
					t.Errorf("the snapshot now says %v of %q", got, state.Source)
					return
				}
			}
		})
	}
	writer.Wait()
	readers.Wait()
	if got := ids(store.Snapshot().Tasks()); !slices.Equal(got, []string{"t9"}) {
		t.Errorf("the store holds %v", got)
	}
}

func TestWhatIsStoredSharesNothingWithWhatWasGiven(t *testing.T) {
	t.Parallel()
	store, node := NewStore(), &api.Node{ID: "n1", Spec: api.NodeSpec{Annotations: api.Annotations{Labels: map[string]string{"rack": "r1"}}}}
	put(t, store, node)
	node.Spec.Annotations.Labels["rack"] = "r2"
	if got := store.Snapshot().Node("n1").Spec.Annotations.Labels["rack"]; got != "r1" {
		t.Errorf("rack %q", got)
	}
}

func TestOnlyChangesAreTold(t *testing.T) {
	t.Parallel()
	node := func() *api.Node { return collectortest.Filled[api.Node](0, func(path string) string { return path }) }
	service := func() *api.Service {
		return collectortest.Filled[api.Service](0, func(path string) string { return path })
	}
	ready := node()
	ready.Status.State = api.NodeStatus_READY
	for _, c := range []struct {
		name string
		do   func(*Store) error
		want bool
	}{
		{"a new object", func(s *Store) error { return s.Put(&api.Node{ID: "n2"}) }, true},
		{"the same object", func(s *Store) error { return s.Put(node(), service()) }, false},
		{"a changed object", func(s *Store) error { return s.Put(ready) }, true},
		{"one that is removed", func(s *Store) error { return s.Remove(&api.Service{ID: service().ID}) }, true},
		{"one that was not there", func(s *Store) error { return s.Remove(&api.Node{ID: "n9"}, &api.Secret{ID: "x"}) }, false},
		{"the same state", func(s *Store) error { return s.Replace([]any{service(), node()}) }, false},
		{"a state that lacks one", func(s *Store) error { return s.Replace([]any{node()}) }, true},
		{"a state of the same ids", func(s *Store) error { return s.Replace([]any{service(), ready}) }, true},
		{"another source", func(s *Store) error { s.Describe(About{Source: "watch"}); return nil }, true},
		{"the same source", func(s *Store) error { s.Describe(About{Source: "engine"}); return nil }, false},
		{"the same source, later", func(s *Store) error { s.Describe(About{Source: "engine", AsOf: time.Now()}); return nil }, false},
		{"a confirmation", func(s *Store) error { s.Confirm(time.Now()); return nil }, false},
		{"an object without an id", func(s *Store) error {
			if s.Put(&api.Node{ID: "n3"}, &api.Node{}) == nil {
				return fmt.Errorf("it was taken")
			}
			return nil
		}, false},
	} {
		store := NewStore()
		put(t, store, node(), service())
		store.Describe(About{Source: "engine"})
		changed := store.Changed()
		if err := c.do(store); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := told(changed); got != c.want {
			t.Errorf("%s: told %v", c.name, got)
		}
	}
}

func TestAnUnknownTimeLeavesTheLastConfirmation(t *testing.T) {
	t.Parallel()
	store, noon := NewStore(), time.Unix(1772366400, 0)
	store.Confirm(noon)
	store.Describe(About{Source: "watch"})
	if state := store.Snapshot(); !state.AsOf.Equal(noon) || state.Source != "watch" {
		t.Errorf("about %+v", state.About)
	}
}
