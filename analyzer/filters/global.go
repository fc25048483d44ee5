package filters

import (
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"
)

// RunsGlobal tells whether a global service gets a task on the node: it is neither drained, paused nor down, and meets
// the constraints (manager/orchestrator/global.Orchestrator.reconcileServices).
func RunsGlobal(s *api.Service, n *api.Node) bool {
	if n == nil || n.Status.State == api.NodeStatus_DOWN || n.Spec.Availability != api.NodeAvailabilityActive {
		return false
	}
	return MeetsConstraints(&s.Spec.Task, n)
}

// MeetsConstraints tells whether a node meets the placement constraints. Those that cannot be parsed count for nothing
// (manager/scheduler.ConstraintFilter.SetTask).
func MeetsConstraints(t *api.TaskSpec, n *api.Node) bool {
	if t.Placement == nil || len(t.Placement.Constraints) == 0 {
		return true
	}
	constraints, err := constraint.Parse(t.Placement.Constraints)
	return err != nil || constraint.NodeMatches(constraints, n)
}
