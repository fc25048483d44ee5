package exporter

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

func TestChangesOfNodesAreTold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*swarm)
		want   []string
	}{
		{"nothing", func(*swarm) {}, nil},
		{"a node that joins", func(s *swarm) { s.put(node("node-4")) }, []string{"node node-4 joined"}},
		{"a node that is removed", func(s *swarm) { s.remove(node("node-2")) }, []string{"node node-2 removed"}},
		{
			"a node that shares its hostname is named with its id",
			func(s *swarm) { s.put(node("node-1", func(n *api.Node) { n.ID = "twin" })) }, []string{"node node-1 (twin) joined"},
		},
		{
			"availability, state and role",
			func(s *swarm) {
				s.put(node("node-1", drained, func(n *api.Node) { n.Status.State, n.Role = api.NodeStatus_DOWN, api.NodeRoleManager }))
			},
			[]string{"node node-1: availability active -> drain", "node node-1: state ready -> down", "node node-1: role worker -> manager"},
		},
		{
			"labels that are added, changed and removed",
			func(s *swarm) {
				s.put(node("node-3", func(n *api.Node) { n.Spec.Annotations.Labels = map[string]string{"disk": "SSD", "zone": "a"} }))
			},
			[]string{"node node-3: label zone=a added", "node node-3: label disk: hdd -> SSD", "node node-3: label rack removed"},
		},
		{
			"engine labels, plugins and resources",
			func(s *swarm) {
				s.put(node("node-1", func(n *api.Node) {
					n.Description.Engine.Labels = map[string]string{"gpu": "yes"}
					n.Description.Engine.Plugins = []api.PluginDescription{{Type: "Volume", Name: "nfs"}}
					n.Description.Resources.MemoryBytes *= 2
				}))
			},
			[]string{"node node-1: engine label gpu=yes added", "node node-1: other plugins", "node node-1: other resources"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSwarm(t)
			s.put(node("node-3", func(n *api.Node) { n.Spec.Annotations.Labels = map[string]string{"disk": "hdd", "rack": "1"} }))
			before := s.Snapshot()
			test.change(s)
			got := step{before: before, after: s.Snapshot()}.nodes()
			slices.Sort(got)
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
