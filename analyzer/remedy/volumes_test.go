package remedy

import (
	"strings"
	"testing"

	"github.com/docker/cli/opts"
	"github.com/moby/swarmkit/v2/api"
)

func volume(name string, set ...func(*api.Volume)) *api.Volume {
	v := &api.Volume{
		ID: "volume-" + name, VolumeInfo: &api.VolumeInfo{VolumeID: name},
		Spec: api.VolumeSpec{Annotations: api.Annotations{Name: name}, AccessMode: &api.VolumeAccessMode{Scope: api.VolumeScopeMultiNode, Sharing: api.VolumeSharingAll}},
	}
	for _, f := range set {
		f(v)
	}
	return v
}

func mounts(list ...api.Mount) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.GetContainer().Mounts = list }
}

func said(tasks []any, sentence string) []any {
	for _, t := range tasks {
		t.(*api.Task).Status.Err = sentence
	}
	return tasks
}

func engineVersion(v string) func(*api.Node) {
	return func(n *api.Node) { n.Description.Engine.EngineVersion = v }
}

func driver(name string) func(*api.Node) {
	return func(n *api.Node) { n.Description.CSIInfo = []*api.NodeCSIInfo{{PluginName: name}} }
}

func TestClusterVolumeUnavailable(t *testing.T) {
	t.Parallel()
	var (
		data    = api.Mount{Type: api.MountTypeCluster, Source: "data", Target: "/data"}
		bind    = api.Mount{Type: api.MountTypeBind, Source: "/etc/app", Target: "/etc/app"}
		last    = api.Mount{Type: api.MountTypeBind, Source: "zoo", Target: "/etc/app"}
		web     = service("web", 1, mounts(data))
		before  = service("web", 1, mounts(data, bind))
		sorted  = service("web", 1, mounts(data, last))
		several = service("web", 2, mounts(api.Mount{Type: api.MountTypeCluster, Source: "group:fast", Target: "/data"}))
		drain   = func(v *api.Volume) { v.Spec.Availability = api.VolumeAvailabilityDrain }
		single  = func(v *api.Volume) { v.Spec.AccessMode.Scope = api.VolumeScopeSingleNode }
		uses    = on(service("db", 1, mounts(data)), 2)
	)
	uses[0].(*api.Task).Volumes = []*api.VolumeAttachment{{ID: "volume-data", Source: "data", Target: "/data"}}
	check(t, "cluster-volume-unavailable", []example{
		{
			"a volume that is drained is activated",
			list(node(1), volume("data", drain), web, waiting(web, 1, 1)),
			[]string{"docker volume update --availability active data | 1 on node-1 | none"},
		},
		{
			"of a scheduler that says why no node suits it is not sure that it sees the volume as it becomes",
			list(node(1), volume("data", drain), web, said(waiting(web, 1, 1), "no suitable node (cannot fulfill requested volumes on 1 node)")),
			[]string{"docker volume update --availability active data | not verified | none"},
		},
		{
			"the cluster volume becomes the last mount where docker sorts it so",
			list(node(1), volume("data"), before, waiting(before, 1, 1)),
			[]string{"docker service update --mount-add 'type=cluster,source=data,target=/data' web | 1 on node-1 | none"},
		},
		{
			"nothing helps where docker would not",
			list(node(1), volume("data"), sorted, waiting(sorted, 1, 1)),
			nil,
		},
		{
			"managers from 29.1 on judge the volume wherever it stands",
			list(node(1, engineVersion("29.1.0")), volume("data", drain), before, waiting(before, 1, 1)),
			[]string{"docker volume update --availability active data | 1 on node-1 | none"},
		},
		{
			"a volume that is missing is made, by a driver that nodes have",
			list(node(1, driver("csi.example")), node(2, driver("csi.example")), web, waiting(web, 1, 1)),
			[]string{"docker volume create --driver csi.example --type mount data | not verified | none"},
		},
		{
			"a driver that is reported with its tag as well is one",
			list(node(1, driver("csi.example")), node(2, driver("csi.example:latest")), web, waiting(web, 1, 1)),
			[]string{"docker volume create --driver csi.example --type mount data | not verified | none"},
		},
		{
			"one that several tasks are to use can be shared",
			list(node(1, driver("csi.example")), several, waiting(several, 1, 2)),
			[]string{"docker volume create --driver csi.example --type mount --scope multi --sharing all --group fast fast | not verified | none"},
		},
		{
			"none is made where no node has a driver",
			list(node(1), web, waiting(web, 1, 1)),
			nil,
		},
		{
			"one that its driver has not made yet is not made again",
			list(node(1, driver("csi.example")), volume("data", func(v *api.Volume) { v.VolumeInfo = nil }), web, waiting(web, 1, 1)),
			nil,
		},
		{
			"a volume of a single node is used where it is in use already",
			list(node(1), node(2, paused), volume("data", single), uses, web, waiting(web, 1, 1)),
			[]string{"docker node update --availability active node-2 | 1 on node-2 | none"},
		},
	})
}

func TestDockerReadsTheMountAsItWasMeant(t *testing.T) {
	t.Parallel()
	s := service("web", 1, mounts(
		api.Mount{Type: api.MountTypeCluster, Source: "group:fast", Target: "/data", ReadOnly: true}, api.Mount{Type: api.MountTypeBind, Source: "/etc/app", Target: "/etc/app"}))
	state := stateOf(t, node(1), volume("data", func(v *api.Volume) { v.Spec.Group = "fast" }), s, waiting(s, 1, 1))
	remedies := remediesOf(t, state, "cluster-volume-unavailable")
	if len(remedies) != 1 {
		t.Fatalf("want one remedy, not %v", remedies)
	}
	_, value, _ := strings.Cut(remedies[0].Command, "--mount-add '")
	value, _, _ = strings.Cut(value, "'")
	var read opts.MountOpt
	if err := read.Set(value); err != nil {
		t.Fatal(err)
	}
	if m := read.Value()[0]; m.Type != "cluster" || m.Source != "group:fast" || m.Target != "/data" || !m.ReadOnly {
		t.Errorf("docker reads %q as %+v", value, m)
	}
}
