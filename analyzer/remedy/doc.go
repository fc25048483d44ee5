// Package remedy finds changes that would place what waits, and proves them: each is applied to a copy of the state, and
// swarmkit's own scheduler runs over it. It is the one place that runs that scheduler; nothing here reaches the cluster.
//
// A filter has a file with the changes that take its refusal away (availability, resources, constraints, ports, …). Those
// against the only reason of a node are tried alone, else two and three together, each set as small as can be; where one alone
// places a part of what waits, sets that place more are told with it. A Draft is the copy with a change, with what the managers
// make of it; what the scheduler decides from is folded into a small store, in which nodes that take nothing are not needed.
package remedy
