// Package whatif tells what a change would do before it is made: which tasks would find a place and where, which would
// lose theirs, what would stay waiting and why, and how far the update would come. It does on a copy of the state what
// Swarm's orchestrators do, and lets swarmkit's scheduler place. It knows nothing of time: every task that is placed runs,
// every task that is to stop has stopped.
package whatif
