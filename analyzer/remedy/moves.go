package remedy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// tries is how many services are tried to move at most.
const tries = 6

// moves has the tasks of another service leave a node, so that the waiting have room there: the fewest tasks first, of
// equally many those that hold least. A constraint that is added for that restarts only the tasks that do not meet it
// (manager/orchestrator.IsTaskDirty), and none when it is taken off again.
func (s *subject) moves() []proposal {
	var holders []holding
	for _, g := range s.groups {
		if !g.failsOnly(filters.Resources, filters.HostPort) {
			continue
		}
		for _, row := range g.rows {
			holders = append(holders, s.holdersOn(g, row)...)
		}
	}
	slices.SortStableFunc(holders, func(a, b holding) int {
		return cmp.Or(a.tasks-b.tasks, cmp.Compare(a.share, b.share), cmp.Compare(a.service.Spec.Annotations.Name, b.service.Spec.Annotations.Name))
	})
	var found []proposal
	settled := map[string]bool{} // by service
	for _, h := range holders {
		if len(found) == tries {
			break
		}
		id := h.service.ID
		if _, known := settled[id]; !known {
			settled[id] = s.isSettled(h.service)
		}
		if settled[id] {
			found = append(found, h.leave())
		}
	}
	return found
}

// isSettled tells whether an update of the service does nothing but what it is told to: none of its own is under way, paused
// or rolled back, which would go on with it, and all tasks are as the spec has them. One that waits would be made anew too,
// and keep the update waiting.
func (s *subject) isSettled(service *api.Service) bool {
	if u := service.UpdateStatus; u != nil && u.State != api.UpdateStatus_COMPLETED {
		return false
	}
	draft, compared := NewDraft(s.state, nil), defaults.InterpolateService(&service.Spec)
	for t := range s.state.TasksOf(service.ID) {
		if t.DesiredState > api.TaskStateCompleted || t.Status.State > api.TaskStateRunning {
			continue
		}
		if t.Status.State <= api.TaskStatePending || draft.isDirty(service, compared, t) {
			return false
		}
	}
	return true
}

// holding is a service whose tasks on a node hold what others wait for.
type holding struct {
	service *api.Service
	node    *filters.Node
	tasks   int
	share   float64 // of what the waiting ask, the most that it holds of one resource
}

// holdersOn are the services without which the node would take a task that waits, as far as amounts and ports go.
func (s *subject) holdersOn(g *group, row filters.Row) []holding {
	t, asked := g.waiting.Task(), filters.Asked(g.waiting.Task())
	byService := map[string][]*api.Task{}
	for _, other := range row.Node.Tasks {
		if other.DesiredState > api.TaskStateCompleted {
			continue // it is to end where it is
		}
		byService[other.ServiceID] = append(byService[other.ServiceID], other)
	}
	var found []holding
	for _, id := range slices.Sorted(maps.Keys(byService)) {
		service := s.state.Service(id)
		if id == t.ServiceID || service == nil || service.Spec.GetReplicated() == nil {
			continue
		}
		h := holding{service: service, node: row.Node, tasks: len(byService[id])}
		does := true
		for _, r := range g.reasons {
			if r.Filter == filters.HostPort {
				does = does && holdsPorts(row.Node, t, id)
				continue
			}
			freed := sum(byService[id], r.What)
			does = does && r.What != "" && row.Node.Free(r.What)+freed >= asked[r.What]
			h.share = max(h.share, freed/asked[r.What])
		}
		if does {
			found = append(found, h)
		}
	}
	return found
}

func sum(tasks []*api.Task, what string) float64 {
	all := 0.0
	for _, t := range tasks {
		all += filters.Asked(t)[what]
	}
	return all
}

// holdsPorts tells whether all ports of the task that are taken on the node are so by this service.
func holdsPorts(n *filters.Node, t *api.Task, serviceID string) bool {
	for port := range filters.HostPorts(t) {
		for _, holder := range n.PortHolders(t, port) {
			if holder.ServiceID != serviceID {
				return false
			}
		}
	}
	return true
}

func (h holding) leave() proposal {
	id, name := h.service.ID, h.service.Spec.Annotations.Name
	away := "node.id!=" + h.node.ID
	return proposal{
		commands: []command{
			{serviceUpdate, []string{flag("--constraint-add", away)}, name},
			{serviceUpdate, []string{flag("--constraint-rm", away)}, name},
		},
		change: func(d *Draft) {
			d.Update(id, func(spec *api.ServiceSpec) {
				if spec.Task.Placement == nil {
					spec.Task.Placement = &api.Placement{}
				}
				spec.Task.Placement.Constraints = append(slices.Clone(spec.Task.Placement.Constraints), away)
			})
			d.Move(id)
		},
		note:    fmt.Sprintf("only the tasks of %s on %s restart; the second command waits for the first and moves nothing", name, h.node.Name),
		instead: "move",
	}
}
