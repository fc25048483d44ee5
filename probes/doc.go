// Package probes defines what an agent finds out about its own node: the Report, the Probe that fills a part of it, and the Rounds
// in which probes are read. Each folder below is one probe. A probe asks the kernel, the node's own engine and the wire, states facts,
// and concludes nothing: the analyzer joins them with what the managers say.
package probes
