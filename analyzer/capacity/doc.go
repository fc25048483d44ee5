// Package capacity looks at all that is stuck together: which one change of the cluster would place most of it, how many
// more nodes of each kind would place all, and how many more replicas of each replicated service fit as things are. What it
// says is what swarmkit's own scheduler did in a copy of the cluster (package remedy); nothing here reaches the cluster.
//
// Every search ends with the deadline of its context, and says so.
package capacity
