package analyzer

import "github.com/swarmdiag/swarmdiag/analyzer/filters"

var _ = register(&Rule{
	Cause:     "insufficient-cpu",
	Component: Scheduler,
	Title:     "the CPU reservation does not fit on any eligible node",
	Shapes:    resourceShapes,
	Doc: `Swarm places a task only where the CPU that it reserves is not yet reserved by others; limits and real use do not count.
too-large: no eligible node has that many cores in all. exhausted: they are not free even in sum. fragmented: they are free in
sum, but not on one node that passes the other filters.

Lower the reservation (docker service update --reserve-cpu), free cores by moving or scaling down what holds them, or add a node.`,
	Rejects: rejectedBy(filters.Resources, filters.CPU),
	Reads:   Holdings,
	Explain: explainResource,
	Why:     whyResource,
})
