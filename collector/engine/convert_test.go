package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/daemon/cluster/convert"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// hidden says which fields of what we keep each hide explains. Those of the second list are no fields: what they leave
// out is whole objects.
var hidden = map[string][]string{
	"service.spec_version":          {"Service.SpecVersion"},
	"service.previous_spec_version": {"Service.PreviousSpecVersion"},
	"task.spec_version":             {"Task.SpecVersion"},
	"task.service_annotations":      {"Task.ServiceAnnotations"},
	"task.endpoint":                 {"Task.Endpoint"},
	"task.status.applied_at":        {"Task.Status.AppliedAt"},
	"node.role":                     {"Node.Role"},
	"network.meta":                  {"Network.Meta.Version", "Network.Meta.UpdatedAt"},
	"volume.publish_status.message": {"Volume.PublishStatus.Message"},
	"volume.pending_delete":         {"Volume.PendingDelete"},
}

var hiddenObjects = []string{"network.predefined", "volume.unused"}

// TestTheEngineShowsAllThatIsKeptButWhatTheTableHides turns swarmkit's objects, with something in every field, into
// those of the Engine API by Docker's own code, and back by ours. After the allow-list both must be equal.
func TestTheEngineShowsAllThatIsKeptButWhatTheTableHides(t *testing.T) {
	t.Parallel()
	asPath := func(path string) string { return path }
	node, orphan := collectortest.Filled[api.Node](0, asPath), collectortest.Filled[api.Node](0, asPath)
	orphan.ID, orphan.ManagerStatus = "orphan", nil // still a manager, and not among the managers any more
	service := collectortest.Filled[api.Service](0, asPath)
	task := collectortest.Filled[api.Task](0, asPath)
	network, vol := collectortest.Filled[api.Network](0, asPath), collectortest.Filled[api.Volume](0, asPath)
	knows := []any{node, orphan, service, task, network, vol}

	shows := roundTrip(t, knows)
	var report paths
	want, got := snapshot(t, knows), snapshot(t, shows)
	for _, kind := range []struct {
		name      string
		want, got any
	}{
		{"Node", slices.Collect(want.Nodes()), slices.Collect(got.Nodes())},
		{"Service", slices.Collect(want.Services()), slices.Collect(got.Services())},
		{"Task", slices.Collect(want.Tasks()), slices.Collect(got.Tasks())},
		{"Network", slices.Collect(want.Networks()), slices.Collect(got.Networks())},
		{"Volume", slices.Collect(want.Volumes()), slices.Collect(got.Volumes())},
	} {
		report.kind = kind.name
		cmp.Equal(kind.want, kind.got, cmp.Reporter(&report), cmpopts.EquateEmpty())
	}
	explained := map[string]bool{}
	for _, path := range report.differ {
		gap := explanation(path)
		if gap == "" {
			t.Errorf("%s is lost, and the table does not say so", path)
		}
		explained[gap] = true
	}
	for _, h := range Hides() {
		if !slices.Contains(hiddenObjects, h.What) && !explained[h.What] {
			t.Errorf("%s is in the table, and is not lost", h.What)
		}
		if h.Why == "" || strings.HasSuffix(h.Why, ".") {
			t.Errorf("%s: %q is no sentence of ours", h.What, h.Why)
		}
	}
}

func explanation(path string) string {
	for what, fields := range hidden {
		for _, field := range fields {
			if strings.HasPrefix(path, field) {
				return what
			}
		}
	}
	return ""
}

// paths is a cmp reporter that lists the fields that differ.
type paths struct {
	kind   string
	differ []string
	path   cmp.Path
}

func (p *paths) PushStep(step cmp.PathStep) { p.path = append(p.path, step) }
func (p *paths) PopStep()                   { p.path = p.path[:len(p.path)-1] }
func (p *paths) Report(result cmp.Result) {
	if !result.Equal() {
		p.differ = append(p.differ, p.kind+"."+p.path.String())
	}
}

func snapshot(t *testing.T, objects []any) *collector.State {
	t.Helper()
	store := collector.NewStore()
	if err := store.Replace(objects); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}

// roundTrip passes the objects through Docker's conversion, JSON, and ours.
func roundTrip(t *testing.T, objects []any) []any {
	t.Helper()
	shown := &Inspected{}
	for _, object := range objects {
		switch o := object.(type) {
		case *api.Node:
			shown.Nodes = append(shown.Nodes, throughJSON(t, convert.NodeFromGRPC(*o)))
		case *api.Service:
			s, err := convert.ServiceFromGRPC(*o)
			if err != nil {
				t.Fatal(err)
			}
			shown.Services = append(shown.Services, throughJSON(t, s))
		case *api.Task:
			s, err := convert.TaskFromGRPC(*o)
			if err != nil {
				t.Fatal(err)
			}
			shown.Tasks = append(shown.Tasks, throughJSON(t, s))
		case *api.Network:
			shown.Networks = append(shown.Networks, throughJSON[network.Inspect](t, convert.BasicNetworkFromGRPC(*o)))
		case *api.Volume:
			shown.Volumes = append(shown.Volumes, throughJSON[volume.Volume](t, convert.VolumeFromGRPC(o)))
		}
	}
	back, about := shown.Objects()
	if len(about.Gaps) > 0 {
		t.Fatal(about.Gaps)
	}
	return back
}

func throughJSON[T any](t *testing.T, object T) T {
	t.Helper()
	written, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var read T
	if err := json.Unmarshal(written, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestAnUnreadableObjectIsAGap(t *testing.T) {
	t.Parallel()
	i := &Inspected{
		Nodes:    []swarm.Node{{ID: "n1", Spec: swarm.NodeSpec{Role: "captain", Availability: "active"}}},
		Services: []swarm.Service{{ID: "s1", Spec: swarm.ServiceSpec{TaskTemplate: swarm.TaskSpec{Runtime: "wasm"}}}},
		Tasks:    []swarm.Task{{ID: "t1", Spec: swarm.TaskSpec{ContainerSpec: &swarm.ContainerSpec{}}, Status: swarm.TaskStatus{State: "dreaming"}}},
	}
	objects, about := i.Objects()
	var gaps []string
	for _, gap := range about.Gaps {
		gaps = append(gaps, gap.What+": "+gap.Why)
	}
	want := []string{
		`node n1: it could not be read: convert node n1: invalid Role: "captain"`,
		`service s1: it could not be read: convert service s1: unsupported runtime`,
		`task t1: it could not be read: convert task t1: unknown state "dreaming" or desired state ""`,
	}
	if diff := cmp.Diff(want, gaps); diff != "" || len(objects) > 0 {
		t.Errorf("%d objects, gaps:\n%s", len(objects), diff)
	}
}
