package exporter

import (
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// amounts are the series of one resource by node.
type amounts struct{ total, reserved, free *prometheus.Desc }

var (
	memoryDescs  = nodeAmounts("bytes", "Memory", "bytes")
	cpuDescs     = nodeAmounts("cores", "CPU", "cores")
	genericDescs = amounts{
		total:    describe("node_generic_resources", "Generic resources of the node in all.", "node", "kind"),
		reserved: describe("node_generic_resources_reserved", "Generic resources of the node that tasks reserve.", "node", "kind"),
		free:     describe("node_generic_resources_free", "Generic resources of the node that no task reserves.", "node", "kind"),
	}
	fragmentationDesc = describe("fragmentation_ratio", "1 less the largest amount free on a ready, active node divided by "+
		"what is free on all of them: near 0 one node has nearly all, near 1 it is scattered. Absent where nothing is free.", "resource")

	nodeDescs = slices.Concat(memoryDescs.all(), cpuDescs.all(), genericDescs.all(), []*prometheus.Desc{fragmentationDesc})
)

func nodeAmounts(suffix, what, unit string) amounts {
	return amounts{
		total:    describe("node_total_"+suffix, what+" of the node in all, in "+unit+".", "node"),
		reserved: describe("node_reserved_"+suffix, what+" of the node that tasks reserve, in "+unit+".", "node"),
		free: describe("node_free_"+suffix, what+" of the node that no task reserves, in "+unit+
			"; negative where more is reserved than there is.", "node"),
	}
}

func (a amounts) all() []*prometheus.Desc { return []*prometheus.Desc{a.total, a.reserved, a.free} }

func (a amounts) collect(out chan<- prometheus.Metric, n *filters.Node, what string, labels ...string) {
	total, free := n.Total(what), n.Free(what)
	gauge(out, a.total, total, labels...)
	gauge(out, a.reserved, total-free, labels...)
	gauge(out, a.free, free, labels...)
}

// collectNodes shows what each node has, and what of it is reserved, as Swarm counts. Nodes that share a hostname are
// named with their id.
func collectNodes(out chan<- prometheus.Metric, nodes []*filters.Node) {
	for _, n := range nodes {
		memoryDescs.collect(out, n, filters.Memory, n.Name)
		cpuDescs.collect(out, n, filters.CPU, n.Name)
		for _, kind := range genericKinds(n) {
			genericDescs.collect(out, n, filters.GenericPrefix+kind, n.Name, kind)
		}
	}
	for _, what := range []string{filters.Memory, filters.CPU} {
		if ratio, ok := fragmentation(nodes, what); ok {
			gauge(out, fragmentationDesc, ratio, what)
		}
	}
}

// fragmentation is how much of a resource is not free in one piece; false where nothing is free.
func fragmentation(nodes []*filters.Node, what string) (float64, bool) {
	largest, sum := 0.0, 0.0
	for _, n := range nodes {
		if n.Status.State != api.NodeStatus_READY || n.Spec.Availability != api.NodeAvailabilityActive {
			continue
		}
		free := max(0, n.Free(what))
		largest, sum = max(largest, free), sum+free
	}
	if sum == 0 {
		return 0, false
	}
	return 1 - largest/sum, true
}

// genericKinds are the kinds of generic resources that a node offers.
func genericKinds(n *filters.Node) []string {
	kinds := map[string]bool{}
	if n.Description != nil && n.Description.Resources != nil {
		for _, generic := range n.Description.Resources.Generic {
			kinds[strings.ToValidUTF8(genericresource.Kind(generic), "?")] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}
