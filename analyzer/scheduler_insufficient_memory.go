package analyzer

import "github.com/swarmdiag/swarmdiag/analyzer/filters"

var _ = register(&Rule{
	Cause:     "insufficient-memory",
	Component: Scheduler,
	Title:     "the memory reservation does not fit on any eligible node",
	Shapes:    resourceShapes,
	Doc: `Swarm places a task only where the memory that it reserves is not yet reserved by others; limits and real use do not count.
too-large: no eligible node has that much in all. exhausted: it is not free even in sum. fragmented: it is free in sum, but not
on one node that passes the other filters.

Lower the reservation (docker service update --reserve-memory), free memory by moving or scaling down what holds it, or add a node.`,
	Rejects: rejectedBy(filters.Resources, filters.Memory),
	Reads:   Holdings,
	Explain: explainResource,
	Why:     whyResource,
})
