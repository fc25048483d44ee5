// Package engine reads the state of a swarm through the Engine API of one of its managers. It is the only importer of
// Docker's client, and no request of its other than GET and HEAD leaves the process.
package engine
