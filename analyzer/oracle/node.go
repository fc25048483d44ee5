package oracle

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"pgregory.net/rapid"
)

// drawNode draws a node; the first one can be the leader.
func (c *Cluster) drawNode(t *rapid.T, i int) *api.Node {
	n := &api.Node{
		ID:   fmt.Sprintf("node-%d", i),
		Meta: api.Meta{CreatedAt: minutesAgo(1000), UpdatedAt: minutesAgo(500 - i)},
		Role: pick(t, "role", api.NodeRoleWorker, api.NodeRoleManager),
		Spec: api.NodeSpec{Annotations: api.Annotations{Labels: drawLabels(t)}},
		Status: api.NodeStatus{
			State: api.NodeStatus_READY,
			Addr:  pick(t, "addr", "10.0.0.1", "192.168.7.2", "2001:db8::7", ""),
		},
	}
	if oneIn(t, "unavailable", 8) {
		n.Spec.Availability = pick(t, "availability", api.NodeAvailabilityPause, api.NodeAvailabilityDrain)
	}
	if oneIn(t, "not ready", 10) {
		n.Status.State = pick(t, "node state", api.NodeStatus_DOWN, api.NodeStatus_UNKNOWN, api.NodeStatus_DISCONNECTED)
	}
	leader := i == 0 && !oneIn(t, "no leader", 6)
	if leader {
		n.Role = api.NodeRoleManager
	}
	if n.Role == api.NodeRoleManager {
		n.ManagerStatus = &api.ManagerStatus{Leader: leader, Reachability: api.RaftMemberStatus_REACHABLE}
	}
	// The scheduler reads the description of a node without looking whether there is one, where it places cluster volumes.
	if len(c.Volumes) > 0 || !oneIn(t, "bare", 8) {
		n.Description = drawDescription(t, i, leader)
	}
	return n
}

func drawDescription(t *rapid.T, i int, leader bool) *api.NodeDescription {
	d := &api.NodeDescription{Hostname: pick(t, "hostname", fmt.Sprintf("host-%d", i), "web-1", "")}
	if !oneIn(t, "no platform", 8) {
		d.Platform = &api.Platform{
			OS:           pick(t, "os", "linux", "linux", "windows", "Linux"),
			Architecture: pick(t, "arch", "x86_64", "aarch64", "amd64", "arm64", "armv7l", "s390x"),
		}
	}
	if !oneIn(t, "no resources", 16) {
		d.Resources = &api.Resources{
			NanoCPUs:    pick[int64](t, "cpus", 2e9, 8e9, 64e9),
			MemoryBytes: pick[int64](t, "memory", 4<<30, 1<<35, 1<<37),
			Generic:     drawOffer(t),
		}
	}
	for _, driver := range []string{"csi", "other"} {
		if !oneIn(t, driver, 3) {
			d.CSIInfo = append(d.CSIInfo, &api.NodeCSIInfo{PluginName: driver, AccessibleTopology: drawTopology(t)})
		}
	}
	if leader || !oneIn(t, "no engine", 10) {
		d.Engine = &api.EngineDescription{EngineVersion: drawVersion(t, leader), Labels: drawLabels(t), Plugins: drawPlugins(t)}
	}
	return d
}

// drawVersion draws the version of an engine. That of the leader decides whether only the last mount counts.
func drawVersion(t *rapid.T, leader bool) string {
	versions := []string{"28.5.2", "27.5.1", "20.10.24", "29.0.4", "", "dev"}
	if !leader {
		versions = append(versions, "29.1.0", "30.0.0")
	}
	return pick(t, "engine version", versions...)
}

// drawOffer draws the generic resources of a node: gpu by name or by number, ssd by number.
func drawOffer(t *rapid.T) []*api.GenericResource {
	var offer []*api.GenericResource
	switch pick(t, "gpu", "none", "set", "discrete") {
	case "set":
		offer = genericresource.NewSet("gpu", []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "gpus")]...)
	case "discrete":
		offer = append(offer, genericresource.NewDiscrete("gpu", rapid.Int64Range(0, 4).Draw(t, "gpus")))
	}
	if rapid.Bool().Draw(t, "ssd") {
		offer = append(offer, genericresource.NewDiscrete("ssd", rapid.Int64Range(1, 3).Draw(t, "ssds")))
	}
	return offer
}

func drawLabels(t *rapid.T) map[string]string {
	if oneIn(t, "no labels", 6) {
		return nil
	}
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
		{Type: "Network", Name: "overlay"}, {Type: "Log", Name: "json-file"}, {Type: "Volume", Name: "local"},
		{Type: "Volume", Name: "rexray:latest"}, {Type: "Volume", Name: "nfs"}, {Type: "Network", Name: "weave:2.0"},
		{Type: "Log", Name: "splunk"}, {Type: "Authorization", Name: "fluentd"}, {Type: "csinode", Name: "csi"},
	} {
		if !oneIn(t, p.Name, 3) {
			plugins = append(plugins, p)
		}
	}
	return plugins
}

func drawTopology(t *rapid.T) *api.Topology {
	segments := map[string]string{}
	for _, subdomain := range []string{"zone", "region"} {
		if segment := pick(t, subdomain, "", "a", "b"); segment != "" {
			segments[subdomain] = segment
		}
	}
	if len(segments) == 0 {
		return nil
	}
	return &api.Topology{Segments: segments}
}
