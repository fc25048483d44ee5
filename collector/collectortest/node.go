package collectortest

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"
)

// GiB is in bytes, Core in billionths of a core.
const (
	GiB  = 1 << 30
	Core = 1e9
)

// Node is the node of a number, node-1 with the id id1, as NamedNode makes it.
func Node(number int, set ...func(*api.Node)) *api.Node {
	n := NamedNode(nodeID(number), fmt.Sprintf("node-%d", number))
	n.Status.Addr = fmt.Sprintf("192.0.2.%d", number)
	return edited(n, set)
}

func nodeID(number int) string { return fmt.Sprintf("id%d", number) }

// NamedNode is a worker that is ready and active, with four cores and 8 GiB.
func NamedNode(id, hostname string, set ...func(*api.Node)) *api.Node {
	return edited(&api.Node{
		ID:     id,
		Spec:   api.NodeSpec{Annotations: api.Annotations{Labels: map[string]string{}}},
		Role:   api.NodeRoleWorker,
		Status: api.NodeStatus{State: api.NodeStatus_READY, Addr: "192.0.2.1"},
		Description: &api.NodeDescription{
			Hostname:  hostname,
			Platform:  &api.Platform{OS: "linux", Architecture: "x86_64"},
			Resources: &api.Resources{NanoCPUs: 4 * Core, MemoryBytes: 8 * GiB},
			Engine:    &api.EngineDescription{EngineVersion: "27.5.1", Plugins: []api.PluginDescription{{Type: "Volume", Name: "local"}, {Type: "Log", Name: "json-file"}}},
		},
	}, set)
}

func edited[T any](object *T, edits []func(*T)) *T {
	for _, edit := range edits {
		edit(object)
	}
	return object
}

// Leader makes a node the manager that leads.
func Leader(n *api.Node) {
	n.Role, n.ManagerStatus = api.NodeRoleManager, &api.ManagerStatus{Leader: true, Reachability: api.RaftMemberStatus_REACHABLE}
}

// Drained has a node take no tasks and lose its own.
func Drained(n *api.Node) { n.Spec.Availability = api.NodeAvailabilityDrain }

// Paused has a node take no tasks.
func Paused(n *api.Node) { n.Spec.Availability = api.NodeAvailabilityPause }

// Down has a node not answer.
func Down(n *api.Node) { n.Status.State = api.NodeStatus_DOWN }

// Labelled gives a node a label.
func Labelled(key, value string) func(*api.Node) {
	return func(n *api.Node) { n.Spec.Annotations.Labels[key] = value }
}

// MemoryOf gives a node so many bytes.
func MemoryOf(bytes int64) func(*api.Node) {
	return func(n *api.Node) { n.Description.Resources.MemoryBytes = bytes }
}
