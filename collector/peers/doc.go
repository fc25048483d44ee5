// Package peers asks the agents on other nodes who they are, and settles which one of them speaks for the cluster.
// Nothing is agreed upon between them: every agent decides for itself from what the others say, by one order that all share.
package peers
