package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 7, time.UTC)

// full returns a state with one object of each kind, with something in every field that is kept.
func full(t *testing.T, variant int, text func(path string) string) *collector.State {
	t.Helper()
	return stateOf(t, collectortest.Filled[api.Node](variant, text), collectortest.Filled[api.Service](variant, text),
		collectortest.Filled[api.Task](variant, text), collectortest.Filled[api.Network](variant, text),
		collectortest.Filled[api.Volume](variant, text))
}

func stateOf(t testing.TB, objects ...any) *collector.State {
	t.Helper()
	store := collector.NewStore()
	if err := store.Replace(objects); err != nil {
		t.Fatal(err)
	}
	store.Describe(collector.About{
		Source: "engine", ClusterID: "c1", ClusterName: "default", AsOf: noon.Add(-time.Second),
		Hides: []collector.Gap{{What: "task.endpoint", Why: "hidden"}}, Gaps: []collector.Gap{{What: "networks", Why: "refused"}},
	})
	return store.Snapshot()
}

func write(t testing.TB, state *collector.State, now time.Time) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := Write(&file, state, now); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func objects(s *collector.State) []any {
	return []any{slices.Collect(s.Nodes()), slices.Collect(s.Services()), slices.Collect(s.Tasks()), slices.Collect(s.Networks()), slices.Collect(s.Volumes())}
}

func TestAFileGivesTheStateThatWasWritten(t *testing.T) {
	t.Parallel()
	for variant := range collectortest.Variants {
		state := full(t, variant, func(path string) string { return path })
		file := write(t, state, noon)
		read, now, err := Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(objects(state), objects(read)); diff != "" || !now.Equal(noon) {
			t.Errorf("variant %d at %v:\n%s", variant, now, diff)
		}
		if diff := cmp.Diff(state.About, read.About); diff != "" {
			t.Errorf("about:\n%s", diff)
		}
		if again := write(t, read, now); !bytes.Equal(file, again) {
			t.Errorf("written again it is another file:\n%s", cmp.Diff(string(file), string(again)))
		}
	}
}

func TestAnyStateComesBackAsItWas(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[a-z][a-z0-9]{0,7}`)
	rapid.Check(t, func(r *rapid.T) {
		var all []any
		for i := range rapid.IntRange(0, 4).Draw(r, "nodes") {
			all = append(all, &api.Node{
				ID: fmt.Sprint("n", i), Role: api.NodeRole(rapid.IntRange(0, 1).Draw(r, "role")),
				Spec: api.NodeSpec{Annotations: api.Annotations{Labels: rapid.MapOf(text, text).Draw(r, "labels")}},
				Description: &api.NodeDescription{Hostname: text.Draw(r, "hostname"), Resources: &api.Resources{
					NanoCPUs: rapid.Int64().Draw(r, "cpus"), MemoryBytes: rapid.Int64().Draw(r, "memory"),
				}},
			})
		}
		for i := range rapid.IntRange(0, 6).Draw(r, "tasks") {
			all = append(all, &api.Task{
				ID: fmt.Sprint("t", i), ServiceID: text.Draw(r, "service"), Slot: rapid.Uint64().Draw(r, "slot"),
				Meta:   api.Meta{Version: api.Version{Index: rapid.Uint64().Draw(r, "version")}},
				Status: api.TaskStatus{State: rapid.SampledFrom([]api.TaskState{api.TaskStateNew, api.TaskStatePending, api.TaskStateRunning, api.TaskStateFailed}).Draw(r, "state"), Err: text.Draw(r, "err")},
				Spec: api.TaskSpec{Placement: &api.Placement{Constraints: rapid.SliceOf(text).Draw(r, "constraints")},
					Resources: &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: rapid.Int64().Draw(r, "memory")}}},
			})
		}
		state := stateOf(t, all...)
		file := write(t, state, noon)
		read, now, err := Read(bytes.NewReader(file))
		if err != nil {
			r.Fatal(err)
		}
		if again := write(t, read, now); !bytes.Equal(file, again) {
			r.Fatalf("written again it is another file:\n%s", cmp.Diff(string(file), string(again)))
		}
	})
}

func TestCredentialsInFreeTextDoNotReachTheFile(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	free := []string{
		"Node.Status.Message", "Node.Spec.Annotations.Labels.value", "Node.Description.Engine.Labels.value",
		"Service.UpdateStatus.Message", "Service.Spec.Task.Runtime.Container.Image", "Service.PreviousSpec.Task.Runtime.Container.Mounts.Source",
		"Task.Status.Err", "Task.Status.Message", "Task.Spec.Runtime.Container.Mounts.Source", "Volume.PublishStatus.Message",
	}
	planted := map[string]bool{}
	state := full(t, 0, func(path string) string {
		if slices.Contains(free, path) {
			planted[path] = true
			return "Get https://bob:" + secret + "@registry.local/v2/ with password=" + secret
		}
		return path
	})
	if len(planted) != len(free) {
		t.Fatalf("planted only in %v", planted)
	}
	if file := write(t, state, noon); bytes.Contains(file, []byte(secret)) {
		at := bytes.Index(file, []byte(secret))
		t.Errorf("…%s…", file[max(0, at-200):min(len(file), at+100)])
	}
	for task := range state.Tasks() {
		if !strings.Contains(task.Status.Err, secret) {
			t.Error("writing changed the state")
		}
	}
}

func TestAFileOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	_, _, err := Read(strings.NewReader(`{"swarmdiag_snapshot": 9, "nodes": {"in": "another shape"}}`))
	if !errors.Is(err, ErrVersion) || err.Error() != "unknown snapshot version 9: this swarmdiag reads version 1" {
		t.Error(err)
	}
}

func TestWhatIsNoSnapshotIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{", "[]", `{"swarmdiag_snapshot":1,"nodes":[{"id":""}]}`, `{"swarmdiag_snapshot":1,"tasks":[{"id":5}]}`,
		`{"swarmdiag_snapshot":1,"tasks":[null]}`, `{"swarmdiag_snapshot":"1"}`,
	} {
		if _, _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// FuzzRead: no file makes it panic, and what it reads can be written.
func FuzzRead(f *testing.F) {
	t := func(path string) string { return path }
	for variant := range collectortest.Variants {
		f.Add(write(f, stateOf(f, collectortest.Filled[api.Node](variant, t), collectortest.Filled[api.Service](variant, t),
			collectortest.Filled[api.Task](variant, t), collectortest.Filled[api.Volume](variant, t)), noon))
	}
	f.Add([]byte(`{"swarmdiag_snapshot":1,"tasks":[{"id":"t","networks":[null],"spec":{"attachment":null}}],"nodes":[{"id":"n","description":{"csi_info":[null]}}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		state, now, err := Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		var again bytes.Buffer
		_ = Write(&again, state, now) // text that is not UTF-8 cannot be written
	})
}
