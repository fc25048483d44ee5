package filters_test

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

func TestTheLeadersEngineDecidesWhichMountsCount(t *testing.T) {
	t.Parallel()
	const refused = "no suitable node (cannot fulfill requested CSI volume mounts on 1 node)"
	bind := func(t *api.Task) {
		c := t.Spec.GetContainer()
		c.Mounts = append(c.Mounts, api.Mount{Type: api.MountTypeBind, Source: "/srv", Target: "/srv"})
	}
	for name, test := range map[string]struct {
		version string
		task    *api.Task
		want    string
	}{
		"before 29.1 a bind mount after the volume keeps the task out":  {"29.0.4", pending(mounting("data"), bind), refused},
		"from 29.1 on it does not":                                      {"29.1.0", pending(mounting("data"), bind), ""},
		"before 29.1 a volume that is missing hides behind the last":    {"28.5.2", pending(mounting("none", "data")), ""},
		"before 29.1 a volume that is there does not help a later one":  {"28.5.2", pending(mounting("data", "none")), refused},
		"from 29.1 on any volume that is there will do":                 {"30.0.0", pending(mounting("data", "none")), ""},
		"where no volume is there no version takes the task":            {"29.1.0", pending(mounting("none")), refused},
		"a version that cannot be read counts as before 29.1":           {"dev", pending(mounting("data", "none")), refused},
		"a preassigned task needs all of its volumes whatever the last": {"28.5.2", pending(mounting("none", "data"), onNodeA), "cannot find volume to satisfy mount with source none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leader := node("a", func(n *api.Node) {
				n.ManagerStatus = &api.ManagerStatus{Leader: true}
				n.Description.Engine = &api.EngineDescription{EngineVersion: test.version}
			})
			cluster := filters.NewCluster(state(t, []*api.Node{leader}, volume("data", "", api.VolumeSharingAll)))
			if got := cluster.Sentence(test.task, cluster.Judge(test.task)); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestATaskOnARemovedNodeStillUsesItsVolume(t *testing.T) {
	t.Parallel()
	user := pending(mounting("data"), func(t *api.Task) {
		t.ID, t.NodeID, t.Status.State = "user", "gone", api.TaskStateRunning
		t.Volumes = []*api.VolumeAttachment{{ID: "data", Source: "data", Target: "/data"}}
	})
	cluster := filters.NewCluster(state(t, []*api.Node{node("a")}, volume("data", "", api.VolumeSharingNone), user))
	task := pending(mounting("data"))
	if cluster.Judge(task)[0].Passes() {
		t.Error("a volume that is not shared is given to a second task")
	}
}

func TestAGroupLeavesTheVolumeThatAnotherMountNames(t *testing.T) {
	t.Parallel()
	volumes := []any{volume("a", "fast", api.VolumeSharingNone), volume("b", "fast", api.VolumeSharingNone)}
	cluster := filters.NewCluster(state(t, []*api.Node{node("a")}, volumes...))
	if task := pending(mounting("group:fast", "a"), onNodeA); !cluster.Judge(task)[0].Passes() {
		t.Error("volume a was taken for the group, b is free")
	}
	if task := pending(mounting("group:fast", "a", "group:fast"), onNodeA); cluster.Judge(task)[0].Passes() {
		t.Error("two volumes are enough for three mounts")
	}
}

func onNodeA(t *api.Task) { t.NodeID = "a" }

func volume(name, group string, sharing api.VolumeAccessMode_Sharing) *api.Volume {
	return &api.Volume{
		ID: name, VolumeInfo: &api.VolumeInfo{VolumeID: name},
		Spec: api.VolumeSpec{
			Annotations: api.Annotations{Name: name}, Group: group, Driver: &api.Driver{Name: "csi"},
			AccessMode: &api.VolumeAccessMode{Scope: api.VolumeScopeMultiNode, Sharing: sharing},
		},
	}
}
