// Package filters judges tasks on nodes as swarmkit's scheduler does, but without its short circuit: every filter on
// every node. Verdicts come from swarmkit's own filter types (manager/scheduler); host ports and cluster volumes, whose
// bookkeeping swarmkit does not export, are measured by the same rules here.
package filters
