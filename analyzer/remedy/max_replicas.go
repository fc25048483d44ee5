package remedy

import (
	"sort"
	"strconv"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.MaxReplicas, allowMore)

// allowMore raises the limit of replicas per node to the least that leaves room for all that wait on the nodes where
// nothing else refuses. It restarts nothing: the new limit is part of the placement, which the tasks that run still meet.
func allowMore(s *subject, g *group, _ filters.Reason) []proposal {
	t := g.waiting.Task()
	if s.service == nil || s.service.Spec.Task.Placement == nil {
		return nil // the limit is one of a former spec
	}
	most := 0
	for _, row := range g.rows {
		most = max(most, row.Node.ActiveTasks(t.ServiceID)+s.tasks())
	}
	least := int(t.Spec.Placement.MaxReplicas) + 1
	limit := uint64(least + sort.Search(max(most-least, 0), func(more int) bool {
		room := 0
		for _, row := range g.rows {
			room += max(least+more-row.Node.ActiveTasks(t.ServiceID), 0)
		}
		return room >= s.tasks()
	}))
	value := strconv.FormatUint(limit, 10)
	p := s.updateService(func(spec *api.ServiceSpec) { spec.Task.Placement.MaxReplicas = limit }, flag("--replicas-max-per-node", value))
	return s.inStack(p, "deploy.placement.max_replicas_per_node", value)
}
