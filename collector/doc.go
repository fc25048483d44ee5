// Package collector asks the managers of a swarm what they know and keeps the answer as a State: swarmkit's own api
// objects, indexed, reduced by an allow-list to the fields that some rule reads. It judges nothing.
//
// Its sources are collector/watch (the control socket of a manager), collector/engine (the Engine API), collector/dump
// (files with the output of docker inspect) and collector/snapshot (our own files).
package collector
