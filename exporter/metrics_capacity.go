package exporter

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swarmdiag/swarmdiag/analyzer/capacity"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

var (
	headroomDesc = describe("service_headroom_replicas", "How many more replicas of a replicated service fit on the nodes as they are; "+
		"at most 1000 are looked for. Counted at most every 30 seconds.", "service")
	neededDesc = describe("nodes_needed", "How many more nodes like this one, joined as workers, would place all waiting tasks that such nodes can take; "+
		"0 where none waits, absent where no number of them would place any. Found at most every 30 seconds.", "like")

	capacityDescs = []*prometheus.Desc{headroomDesc, neededDesc}
)

// Capacity takes what was measured last.
func (m *Metrics) Capacity(report capacity.Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity = report
}

// collectCapacity shows what was measured of services and nodes that there still are.
func collectCapacity(out chan<- prometheus.Metric, report capacity.Report, state *collector.State, nodes []*filters.Node) {
	for _, h := range report.Headroom {
		if state.ServiceNamed(h.Service) != nil {
			gauge(out, headroomDesc, float64(h.Replicas), h.Service)
		}
	}
	for _, n := range report.Needed {
		exists := slices.ContainsFunc(nodes, func(node *filters.Node) bool { return node.Name == n.Like })
		if exists && (n.Waiting == 0 || n.Places > 0) {
			gauge(out, neededDesc, float64(n.Nodes), n.Like)
		}
	}
}
