package analyzer

import "github.com/swarmdiag/swarmdiag/analyzer/filters"

var _ = register(&Rule{
	Cause:     "insufficient-generic-resource",
	Component: Scheduler,
	Title:     "a generic resource is not free on any eligible node",
	Shapes:    append([]string{notAdvertised}, resourceShapes...),
	Doc: `Swarm counts generic resources (GPUs, licences) as the engines advertise them; the kind is compared to the letter.
not-advertised: no eligible node offers the kind. too-large: none offers so many. exhausted: so many are not free even in sum.
fragmented: they are free in sum, but not on one node that passes the other filters.

Advertise the kind (node-generic-resources in daemon.json, then restart the engine), ask for fewer, or free what holds them.`,
	Rejects: rejectedBy(filters.Resources, filters.GenericPrefix),
	Reads:   Holdings,
	Explain: explainResource,
	Why:     whyResource,
})
