package remedy

import (
	"cmp"
	"fmt"
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
	var found []holding
	for id, tasks := range ownersOn(row.Node) {
		share, does := g.without(row.Node, id, tasks)
		if !does || id == g.waiting.Task().ServiceID {
			continue
		}
		if service := s.state.Service(id); service != nil && service.Spec.GetReplicated() != nil {
			found = append(found, holding{service, row.Node, len(tasks), share})
		}
	}
	return found
}

// ownersOn are the tasks on a node, by the ids of their services, but for those that are to end where they are.
func ownersOn(n *filters.Node) map[string][]*api.Task {
	byService := make(map[string][]*api.Task, len(n.Tasks))
	for _, t := range n.Tasks {
		if t.DesiredState <= api.TaskStateCompleted {
			byService[t.ServiceID] = append(byService[t.ServiceID], t)
		}
	}
	return byService
}

// without tells whether a node would take a task of the group if it did not have these of one service, and the largest share
// of what that asks for that they hold.
func (g *group) without(n *filters.Node, serviceID string, tasks []*api.Task) (share float64, does bool) {
	t := g.waiting.Task()
	for _, r := range g.reasons {
		if r.Filter == filters.HostPort {
			if !holdsPorts(n, t, serviceID) {
				return 0, false
			}
			continue
		}
		freed, asked := 0.0, filters.Reserved(t, r.What)
		for _, held := range tasks {
			freed += filters.Reserved(held, r.What)
		}
		if r.What == "" || n.Free(r.What)+freed < asked {
			return 0, false
		}
		share = max(share, freed/asked)
	}
	return share, true
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
