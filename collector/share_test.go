package collector

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// versioned is a task with everything, of one version of a service's spec.
func versioned(id string, version uint64) *api.Task {
	t := collectortest.Filled[api.Task](0, func(path string) string { return path })
	t.ID, t.ServiceID, t.SpecVersion = id, "s1", &api.Version{Index: version}
	return t
}

func TestTasksOfOneVersionShareWhatTheyHaveInCommon(t *testing.T) {
	t.Parallel()
	store := NewStore()
	other := versioned("t4", 1)
	other.Spec.Placement.Constraints = []string{"node.role==worker"}
	put(t, store, versioned("t1", 1), versioned("t2", 1), versioned("t3", 2), other)
	state := store.Snapshot()
	first := state.Task("t1")
	for _, c := range []struct {
		task string
		want bool
	}{{"t2", true}, {"t3", false}, {"t4", false}} {
		task := state.Task(c.task)
		for what, shared := range map[string]bool{
			"resources": task.Spec.Resources == first.Spec.Resources,
			"placement": task.Spec.Placement == first.Spec.Placement,
			"runtime":   task.Spec.GetContainer() == first.Spec.GetContainer(),
			"endpoint":  task.Endpoint == first.Endpoint,
			"network":   task.Networks[0].Network == first.Networks[0].Network,
		} {
			if shared != c.want {
				t.Errorf("%s shares its %s: %v", c.task, what, shared)
			}
		}
	}
	if got := state.Task("t4").Spec.Placement.Constraints; len(got) != 1 {
		t.Errorf("constraints of t4: %v", got)
	}
}

func TestWhatIsSharedIsWhatWouldHaveBeenCopied(t *testing.T) {
	t.Parallel()
	differ := map[string]func(*api.Task){
		"nothing":             func(*api.Task) {},
		"spec":                func(t *api.Task) { t.Spec.GetContainer().Image = "other" },
		"name of the service": func(t *api.Task) { t.ServiceAnnotations.Name = "other" },
		"ports":               func(t *api.Task) { t.Endpoint.Ports[0].PublishedPort++ },
		"no endpoint":         func(t *api.Task) { t.Endpoint = nil },
		"network":             func(t *api.Task) { t.Networks[0].Network.ID = "other" },
		"address":             func(t *api.Task) { t.Networks[0].Addresses = []string{"10.0.0.9/24"} },
		"more networks":       func(t *api.Task) { t.Networks = append(t.Networks, &api.NetworkAttachment{}) },
		"no networks":         func(t *api.Task) { t.Networks = nil },
		"status":              func(t *api.Task) { t.Status.Err, t.Status.State = "other", api.TaskStateFailed },
	}
	for name, change := range differ {
		known := models{}
		known.keep([]any{versioned("t1", 1)})
		task := versioned("t2", 1)
		change(task)
		got := known.keep([]any{task})[0].(*api.Task)
		if diff := cmp.Diff(keepTask(task).Copy(), got); diff != "" {
			t.Errorf("another %s: %s", name, diff)
		}
	}
}

func TestAVersionThatComesToMeanAnotherSpecIsFollowed(t *testing.T) {
	t.Parallel()
	store := NewStore()
	put(t, store, versioned("t1", 1))
	changed := versioned("t1", 1)
	changed.Spec.GetContainer().Image = "other"
	put(t, store, changed)
	if got := store.Snapshot().Task("t1").Spec.GetContainer().Image; got != "other" {
		t.Errorf("image %q", got)
	}
}

func TestAListingHoldsWhatTheStoreHoldsAlready(t *testing.T) {
	t.Parallel()
	store := NewStore()
	put(t, store, versioned("t1", 1))
	before := store.Snapshot().Task("t1")
	listing := store.List()
	listing.Add(versioned("t1", 1))
	if listing.kept[0] != any(before) {
		t.Error("it holds a copy")
	}
	changed := store.Changed()
	if err := listing.Replace(); err != nil || told(changed) || !reflect.DeepEqual(before, store.Snapshot().Task("t1")) {
		t.Errorf("the same state changes something, %v", err)
	}
}
