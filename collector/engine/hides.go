package engine

import "github.com/swarmdiag/swarmdiag/collector"

// hides lists what a manager knows and the Engine API does not show. What can be inferred is inferred, and said here.
var hides = []collector.Gap{
	{What: "service.spec_version", Why: "the Engine API does not number the specs of a service: current and previous are told apart by their content"},
	{What: "service.previous_spec_version", Why: "the Engine API does not number the specs of a service: current and previous are told apart by their content"},
	{What: "task.spec_version", Why: "the Engine API does not say which spec a task was made from: it is inferred by comparing the task with the current and the previous spec of its service"},
	{What: "task.service_annotations", Why: "the Engine API names a task's service by id only: once the service is gone, so is its name"},
	{What: "task.endpoint", Why: "the Engine API does not show the ports a task was given: they are inferred from its service and from what its engine says it holds"},
	{What: "task.status.applied_at", Why: "the Engine API does not show when a manager took note of a task's status: only the clock of the task's node is known"},
	{What: "node.role", Why: "the Engine API shows the role a node should have: the one it has is inferred from its status as a manager"},
	{What: "network.meta", Why: "the Engine API shows neither version nor time of update of a network"},
	{What: "network.predefined", Why: "the Engine API leaves out the swarm's predefined networks host and bridge"},
	{What: "volume.publish_status.message", Why: "the Engine API does not show why a cluster volume could not be published on a node: the leader's log does"},
	{What: "volume.pending_delete", Why: "the Engine API does not show that a cluster volume is being removed"},
	{What: "volume.unused", Why: "cluster volumes are asked for only while some service mounts one, since the question makes Docker look up every volume plugin of that node"},
}

// Hides returns what the Engine API never shows, with what is done about it.
func Hides() []collector.Gap { return append([]collector.Gap(nil), hides...) }
