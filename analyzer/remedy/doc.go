// Package remedy finds changes that would place what waits, and proves them: each is applied to a copy of the state, and
// swarmkit's own scheduler runs over it. It is the one place that runs that scheduler; nothing here reaches the cluster.
package remedy
