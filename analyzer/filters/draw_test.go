package filters_test

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"pgregory.net/rapid"
)

// oneNode is a random node with what runs on it.
type oneNode struct {
	node    *api.Node
	tasks   []*api.Task
	volumes []*api.Volume
}

func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

func drawCluster(t *rapid.T) *oneNode {
	c := &oneNode{node: drawNode(t)}
	for i := range rapid.IntRange(0, 3).Draw(t, "volumes") {
		c.volumes = append(c.volumes, drawVolume(t, i))
	}
	for i := range rapid.IntRange(0, 6).Draw(t, "tasks") {
		task := c.drawTask(t, fmt.Sprintf("running-%d", i), fmt.Sprintf("service-%d", i%3))
		task.NodeID = "node"
		task.Status.State = pick(t, "state", api.TaskStateAssigned, api.TaskStateRunning, api.TaskStateRunning, api.TaskStateFailed, api.TaskStateNew)
		task.DesiredState = pick(t, "desired", api.TaskStateRunning, api.TaskStateRunning, api.TaskStateShutdown)
		for _, m := range task.Spec.GetContainer().Mounts {
			if len(c.volumes) > 0 && m.Type == api.MountTypeCluster {
				v := pick(t, "attached", c.volumes...)
				task.Volumes = append(task.Volumes, &api.VolumeAttachment{ID: v.ID, Source: m.Source, Target: m.Target})
			}
		}
		c.tasks = append(c.tasks, task)
	}
	return c
}

func drawNode(t *rapid.T) *api.Node {
	n := &api.Node{
		ID:   "node",
		Role: pick(t, "role", api.NodeRoleManager, api.NodeRoleWorker),
		Spec: api.NodeSpec{
			Annotations:  api.Annotations{Labels: drawLabels(t)},
			Availability: pick(t, "availability", api.NodeAvailabilityActive, api.NodeAvailabilityActive, api.NodeAvailabilityActive, api.NodeAvailabilityPause, api.NodeAvailabilityDrain),
		},
		Status: api.NodeStatus{
			State: pick(t, "node state", api.NodeStatus_READY, api.NodeStatus_READY, api.NodeStatus_READY, api.NodeStatus_DOWN, api.NodeStatus_UNKNOWN),
			Addr:  pick(t, "addr", "10.0.0.1", "192.168.7.2", ""),
		},
		Description: &api.NodeDescription{
			Hostname: pick(t, "hostname", "web-1", "db-1"),
			Platform: &api.Platform{OS: pick(t, "os", "linux", "windows"), Architecture: pick(t, "arch", "x86_64", "aarch64", "amd64", "armv7l")},
			Resources: &api.Resources{
				NanoCPUs:    pick[int64](t, "cpus", 1e9, 2e9, 8e9),
				MemoryBytes: pick[int64](t, "memory", 1<<30, 4<<30, 1<<35),
			},
			CSIInfo: []*api.NodeCSIInfo{{PluginName: "csi", AccessibleTopology: drawTopology(t)}},
		},
	}
	switch pick(t, "generic", "none", "set", "discrete") {
	case "set":
		n.Description.Resources.Generic = genericresource.NewSet("gpu", "a", "b", "c")
	case "discrete":
		n.Description.Resources.Generic = []*api.GenericResource{genericresource.NewDiscrete("gpu", rapid.Int64Range(0, 4).Draw(t, "gpus"))}
	}
	if rapid.IntRange(0, 9).Draw(t, "engine") > 0 {
		n.Description.Engine = &api.EngineDescription{EngineVersion: "27.5.1", Labels: drawLabels(t), Plugins: drawPlugins(t)}
	}
	return n
}

func drawLabels(t *rapid.T) map[string]string {
	labels := map[string]string{}
	for _, key := range []string{"env", "Env", "rack"} {
		if value := pick(t, key, "", "prod", "Prod", "r1"); value != "" {
			labels[key] = value
		}
	}
	return labels
}

func drawPlugins(t *rapid.T) []api.PluginDescription {
	var plugins []api.PluginDescription
	for _, p := range []api.PluginDescription{
		{Type: "Volume", Name: "local"}, {Type: "Volume", Name: "rexray:latest"}, {Type: "Volume", Name: "nfs"},
		{Type: "Network", Name: "overlay"}, {Type: "Network", Name: "weave:2.0"}, {Type: "Log", Name: "json-file"}, {Type: "Log", Name: "splunk"},
	} {
		if rapid.Bool().Draw(t, p.Name) {
			plugins = append(plugins, p)
		}
	}
	return plugins
}

func drawTopology(t *rapid.T) *api.Topology {
	zone := pick(t, "zone", "", "z1", "z2")
	if zone == "" {
		return nil
	}
	return &api.Topology{Segments: map[string]string{"zone": zone}}
}

func drawVolume(t *rapid.T, i int) *api.Volume {
	v := &api.Volume{
		ID: fmt.Sprintf("volume-%d", i),
		Spec: api.VolumeSpec{
			Annotations:  api.Annotations{Name: fmt.Sprintf("data-%d", i)},
			Group:        pick(t, "group", "", "fast"),
			Driver:       &api.Driver{Name: pick(t, "driver", "csi", "other")},
			AccessMode:   &api.VolumeAccessMode{Scope: pick(t, "scope", api.VolumeScopeSingleNode, api.VolumeScopeMultiNode), Sharing: pick(t, "sharing", api.VolumeSharingNone, api.VolumeSharingReadOnly, api.VolumeSharingOneWriter, api.VolumeSharingAll)},
			Availability: pick(t, "volume availability", api.VolumeAvailabilityActive, api.VolumeAvailabilityActive, api.VolumeAvailabilityPause),
		},
		VolumeInfo: &api.VolumeInfo{VolumeID: pick(t, "volume id", "", "v", "v", "v")},
	}
	if topology := drawTopology(t); topology != nil {
		v.VolumeInfo.AccessibleTopology = []*api.Topology{topology}
	}
	return v
}

// drawPending draws a task that waits for the scheduler; some are preassigned, as those of global services are.
func (c *oneNode) drawPending(t *rapid.T, i int) *api.Task {
	task := c.drawTask(t, fmt.Sprintf("pending-%d", i), pick(t, "service", "service-0", "service-1", fmt.Sprintf("own-%d", i)))
	task.Slot = uint64(i)
	task.Status.State, task.DesiredState = api.TaskStatePending, api.TaskStateRunning
	if rapid.IntRange(0, 4).Draw(t, "preassigned") == 0 {
		task.NodeID = "node"
	}
	return task
}

func (c *oneNode) drawTask(t *rapid.T, id, service string) *api.Task {
	container := &api.ContainerSpec{Image: "demo"}
	task := &api.Task{ID: id, ServiceID: service, Spec: api.TaskSpec{
		Runtime:   &api.TaskSpec_Container{Container: container},
		Placement: &api.Placement{Constraints: drawConstraints(t), MaxReplicas: pick[uint64](t, "max replicas", 0, 0, 1, 2)},
	}}
	if rapid.IntRange(0, 2).Draw(t, "reserves") == 0 {
		task.Spec.Resources = &api.ResourceRequirements{Reservations: drawReservations(t)}
	}
	if rapid.IntRange(0, 3).Draw(t, "pins platform") == 0 {
		task.Spec.Placement.Platforms = []*api.Platform{{OS: pick(t, "image os", "linux", ""), Architecture: pick(t, "image arch", "amd64", "arm64", "x86_64", "")}}
	}
	if rapid.IntRange(0, 4).Draw(t, "logs") == 0 {
		task.Spec.LogDriver = &api.Driver{Name: pick(t, "log driver", "", "none", "json-file", "splunk", "fluentd")}
	}
	if rapid.IntRange(0, 4).Draw(t, "networked") == 0 {
		task.Networks = []*api.NetworkAttachment{{Network: &api.Network{ID: "n", DriverState: &api.Driver{Name: pick(t, "network driver", "overlay", "weave", "weave:2.0", "")}}}}
	}
	if rapid.IntRange(0, 3).Draw(t, "mounts") == 0 {
		container.Mounts = c.drawMounts(t)
	}
	for range rapid.IntRange(-2, 2).Draw(t, "ports") {
		if task.Endpoint == nil {
			task.Endpoint = &api.Endpoint{}
		}
		task.Endpoint.Ports = append(task.Endpoint.Ports, &api.PortConfig{
			Protocol: pick(t, "protocol", api.ProtocolTCP, api.ProtocolUDP), PublishMode: pick(t, "mode", api.PublishModeHost, api.PublishModeIngress),
			PublishedPort: pick[uint32](t, "port", 0, 80, 443), TargetPort: 80,
		})
	}
	return task
}

func drawConstraints(t *rapid.T) []string {
	var constraints []string
	for range rapid.IntRange(-2, 2).Draw(t, "constraints") {
		constraints = append(constraints, pick(t, "constraint",
			"node.labels.env==prod", "node.labels.env!=prod", "node.labels.Env==prod", "engine.labels.rack==r1", "Node.Role==worker", "node.role!=manager",
			"node.hostname==WEB-1", "node.ip==10.0.0.0/24", "node.ip!=10.0.0.1", "node.ip==nonsense", "node.platform.arch==x86_64", "node.platform.os==linux",
			"node.id==node", "rack==r1", "node.labels.==x", "not a constraint", "node.labels.env==p*"))
	}
	return constraints
}

func drawReservations(t *rapid.T) *api.Resources {
	r := &api.Resources{
		NanoCPUs:    pick[int64](t, "asked cpus", 0, 1e8, 1e9, 4e9),
		MemoryBytes: pick[int64](t, "asked memory", 0, 1<<20, 1<<30, 1<<33),
	}
	if kind := pick(t, "asked kind", "", "", "gpu", "GPU", "ssd"); kind != "" {
		r.Generic = []*api.GenericResource{genericresource.NewDiscrete(kind, rapid.Int64Range(0, 3).Draw(t, "asked generic"))}
	}
	return r
}

func (c *oneNode) drawMounts(t *rapid.T) []api.Mount {
	var mounts []api.Mount
	for i := range rapid.IntRange(1, 3).Draw(t, "mount count") {
		m := api.Mount{Target: fmt.Sprintf("/m%d", i), Source: pick(t, "source", "data-0", "data-1", "group:fast", "group:slow", "other"), ReadOnly: rapid.Bool().Draw(t, "read-only")}
		switch pick(t, "mount type", "cluster", "cluster", "volume", "bind") {
		case "cluster":
			m.Type = api.MountTypeCluster
		case "volume":
			m.Type = api.MountTypeVolume
			m.VolumeOptions = &api.Mount_VolumeOptions{DriverConfig: &api.Driver{Name: pick(t, "volume driver", "", "local", "rexray", "nfs")}}
		case "bind":
			m.Type = api.MountTypeBind
		}
		mounts = append(mounts, m)
	}
	return mounts
}
