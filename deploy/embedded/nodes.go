package embedded

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/docker/go-units"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"github.com/moby/swarmkit/v2/manager/state/store"
)

// engineVersion is what the nodes report: the Docker release that vendors this swarmkit and whose conversions are used here.
const engineVersion = "28.5.2"

// machine is what lies behind one node: the facts that dockerd would find there, and what an operator sets on the node.
type machine struct {
	hostname     string
	arch         string // as uname gives it
	cores        int64
	memory       int64 // bytes
	gpus         []string
	engineLabels map[string]string
	nodeLabels   map[string]string
	drained      bool
}

// machines are the nodes of the swarm, the manager first. The services of faults.go are cut to their sizes: the two data nodes
// are all that the resource faults may use, so that each shape is exact there; the edge nodes alone are aarch64; node-6 alone
// carries its rack's label, and is drained.
func machines() []machine {
	return []machine{
		{
			hostname: "node-1", arch: "x86_64", cores: 4, memory: 8 * units.GiB,
			nodeLabels: map[string]string{"region": "eu-west", "rack": "r1"},
		},
		{
			hostname: "node-2", arch: "x86_64", cores: 8, memory: 16 * units.GiB,
			gpus:         []string{"GPU-2a", "GPU-2b", "GPU-2c", "GPU-2d"},
			engineLabels: map[string]string{"storage": "nvme"},
			nodeLabels:   map[string]string{"region": "eu-west", "rack": "r1", "tier": "data"},
		},
		{
			hostname: "node-3", arch: "x86_64", cores: 8, memory: 16 * units.GiB,
			gpus:         []string{"GPU-3a", "GPU-3b", "GPU-3c", "GPU-3d"},
			engineLabels: map[string]string{"storage": "nvme"},
			nodeLabels:   map[string]string{"region": "eu-west", "rack": "r2", "tier": "data"},
		},
		{
			hostname: "node-4", arch: "aarch64", cores: 4, memory: 4 * units.GiB,
			nodeLabels: map[string]string{"region": "us-east", "rack": "r2", "tier": "edge"},
		},
		{
			hostname: "node-5", arch: "aarch64", cores: 4, memory: 4 * units.GiB,
			nodeLabels: map[string]string{"region": "us-east", "rack": "r2", "tier": "edge"},
		},
		{
			hostname: "node-6", arch: "x86_64", cores: 4, memory: 8 * units.GiB,
			nodeLabels: map[string]string{"region": "eu-west", "rack": "r3"},
			drained:    true,
		},
	}
}

// description is what dockerd on that machine would report (daemon/cluster/executor/container, executor.Describe).
func (m machine) description() *api.NodeDescription {
	return &api.NodeDescription{
		Hostname: m.hostname,
		Platform: &api.Platform{Architecture: m.arch, OS: "linux"},
		Resources: &api.Resources{
			NanoCPUs:    m.cores * 1e9,
			MemoryBytes: m.memory,
			Generic:     genericresource.NewSet("gpu", m.gpus...),
		},
		Engine: &api.EngineDescription{
			EngineVersion: engineVersion,
			Labels:        m.engineLabels,
			Plugins:       builtinPlugins(),
		},
	}
}

// builtinPlugins are the drivers of a dockerd without further plugins.
func builtinPlugins() []api.PluginDescription {
	var plugins []api.PluginDescription
	for _, kind := range []struct {
		name    string
		drivers []string
	}{
		{"Log", []string{"awslogs", "fluentd", "gcplogs", "gelf", "journald", "json-file", "local", "syslog"}},
		{"Network", []string{"bridge", "host", "ipvlan", "macvlan", "null", "overlay"}},
		{"Volume", []string{"local"}},
	} {
		for _, driver := range kind.drivers {
			plugins = append(plugins, api.PluginDescription{Type: kind.name, Name: driver})
		}
	}
	return plugins
}

// configureNodes does to each node what an operator does with `docker node update`.
func (c *cluster) configureNodes(ctx context.Context, all []machine) error {
	for i, m := range all {
		if err := c.configureNode(ctx, c.nodes[i].NodeID(), m); err != nil {
			return fmt.Errorf("update %s: %w", m.hostname, err)
		}
	}
	return nil
}

// configureNode sets the labels and the availability of one node. The dispatcher and the allocator write to the node as well,
// so a version that is no longer current is read anew until ctx is done.
func (c *cluster) configureNode(ctx context.Context, id string, m machine) error {
	for {
		current, err := c.control.GetNode(ctx, &api.GetNodeRequest{NodeID: id})
		if err != nil {
			return err
		}
		spec := current.Node.Spec.Copy()
		spec.Annotations.Labels = maps.Clone(m.nodeLabels)
		if m.drained {
			spec.Availability = api.NodeAvailabilityDrain
		}
		_, err = c.control.UpdateNode(ctx, &api.UpdateNodeRequest{NodeID: id, NodeVersion: &current.Node.Meta.Version, Spec: spec})
		if err == nil || !strings.Contains(err.Error(), store.ErrSequenceConflict.Error()) {
			return err
		}
	}
}
