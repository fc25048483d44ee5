// Command bench measures swarmdiag at the size of a large swarm, against swarmkit's own scheduler in the same run, and
// says which bars it meets. It takes no flags; see docs/performance.md for what the lines mean.
//
// It runs itself a second time as the leader of that swarm: swarmkit's own store, scheduler, orchestrators, Control and
// Watch behind a socket, with agents that are only played. The leader has no raft and no dispatcher, so that the real
// one does more for each event, and what it pays for being watched is a smaller part of that.
package main
