package capacity

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

// stuck is all that waits for a node.
type stuck struct {
	state   *collector.State
	cluster *filters.Cluster
	waiting []*analyzer.Waiting
	tasks   []*api.Task
	// services are the ids of those that wait, the global ones without any task among them.
	services map[string]bool
	// before is what the scheduler places of it as the cluster is: nil until that was asked.
	before placed
}

func newStuck(state *collector.State, diagnoses []analyzer.Diagnosis) *stuck {
	s := &stuck{state: state, cluster: filters.NewCluster(state), services: map[string]bool{}}
	for _, d := range diagnoses {
		for _, w := range d.Waiting {
			s.waiting = append(s.waiting, w)
			s.services[d.Subject.ID] = true
			for _, t := range w.Tasks {
				if t.ID != "" { // what is judged for a global service without a task does not exist
					s.tasks = append(s.tasks, t)
				}
			}
		}
	}
	return s
}

// placed is how many tasks of each service that waits the scheduler placed.
type placed map[string]int

func (p placed) sum() int {
	sum := 0
	for _, n := range p {
		sum += n
	}
	return sum
}

// beyond is how many tasks of how many services this places that the other does not.
func (p placed) beyond(other placed) (services, tasks int) {
	for id, n := range p {
		if more := n - other[id]; more > 0 {
			services++
		}
		tasks += n - other[id]
	}
	return services, tasks
}

// unchanged is what the scheduler places as the cluster is; it is asked once.
func (s *stuck) unchanged(ctx context.Context) (placed, error) {
	if s.before == nil {
		before, err := s.place(ctx, nil)
		if err != nil {
			return nil, err
		}
		s.before = before
	}
	return s.before, nil
}

// place lets the scheduler place all that waits in a cluster with these nodes added or replaced, once some tasks have ended. What
// the orchestrator makes for global services on these is placed with it.
func (s *stuck) place(ctx context.Context, ended []any, nodes ...*api.Node) (placed, error) {
	state, err := with(s.state, ended, nodes)
	if err != nil {
		return nil, err
	}
	tasks := slices.Concat(s.tasks, s.newcomers(state, nodes))
	placement, err := remedy.Place(ctx, state, tasks)
	if err != nil {
		return nil, err
	}
	return s.count(placement, tasks), nil
}

// count leaves out the tasks of global services that do not wait: they are made because there is a node.
func (s *stuck) count(placement remedy.Placement, tasks []*api.Task) placed {
	counts := placed{}
	for _, t := range tasks {
		if _, on := placement.On[t.ID]; on && s.services[t.ServiceID] {
			counts[t.ServiceID]++
		}
	}
	return counts
}

func with(state *collector.State, ended []any, nodes []*api.Node) (*collector.State, error) {
	objects := make([]any, len(nodes))
	for i, n := range nodes {
		objects[i] = n
	}
	changed, err := state.With(objects, ended...)
	if err != nil {
		return nil, fmt.Errorf("change nodes in a copy of the cluster: %w", err)
	}
	return changed, nil
}

// newcomers are the tasks that global services get on nodes where they may run and have none
// (manager/orchestrator/global).
func (s *stuck) newcomers(state *collector.State, nodes []*api.Node) []*api.Task {
	var made []*api.Task
	for service := range state.Services() {
		if service.Spec.GetGlobal() == nil {
			continue
		}
		model := analyzer.ModelTask(s.state, service)
		for _, n := range nodes {
			if !filters.RunsGlobal(service, n) || hasTask(state, service.ID, n.ID) {
				continue
			}
			t := *model
			t.ID, t.NodeID, t.DesiredState = service.ID+" on "+n.ID, n.ID, api.TaskStateRunning
			t.Status = api.TaskStatus{State: api.TaskStatePending}
			made = append(made, &t)
		}
	}
	return made
}

func hasTask(state *collector.State, serviceID, nodeID string) bool {
	for t := range state.TasksOn(nodeID) {
		if t.ServiceID == serviceID && analyzer.IsToRun(t) {
			return true
		}
	}
	return false
}

// outOfTime tells whether an error is only that the time was up.
func outOfTime(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
