package remedy

import (
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"
	"github.com/moby/swarmkit/v2/manager/orchestrator"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Draft is a copy of the cluster that changes are made to. It does what the managers do with a change: new tasks
// of an updated service, tasks of a global service on a node that becomes one of its own.
type Draft struct {
	base    *collector.State
	put     map[string]any // by id
	gone    []any
	Waiting []*api.Task // what is to be placed
}

// NewDraft begins a copy of the state in which the tasks wait.
func NewDraft(state *collector.State, waiting []*api.Task) *Draft {
	return &Draft{base: state, put: map[string]any{}, Waiting: slices.Clone(waiting)}
}

// State returns the cluster with all changes.
func (d *Draft) State() (*collector.State, error) {
	objects := make([]any, 0, len(d.put))
	for _, object := range d.put {
		objects = append(objects, object)
	}
	state, err := d.base.With(objects, d.gone...)
	if err != nil {
		return nil, fmt.Errorf("change a copy of the cluster: %w", err)
	}
	return state, nil
}

// Node returns a copy of a node to change; nil where there is none.
func (d *Draft) Node(id string) *api.Node {
	if n, is := d.put[id].(*api.Node); is {
		return n
	}
	n := d.base.Node(id)
	if n == nil {
		return nil
	}
	d.put[id] = n.Copy()
	return d.put[id].(*api.Node)
}

// Volume returns a copy of a cluster volume to change; nil where there is none.
func (d *Draft) Volume(id string) *api.Volume {
	if v, is := d.put[id].(*api.Volume); is {
		return v
	}
	v := d.base.Volume(id)
	if v == nil {
		return nil
	}
	d.put[id] = v.Copy()
	return d.put[id].(*api.Volume)
}

// service returns the service as it is in the draft.
func (d *Draft) service(id string) *api.Service {
	if s, is := d.put[id].(*api.Service); is {
		return s
	}
	return d.base.Service(id)
}

// Update changes the spec of a service, as docker service update does: what waits of it is made anew from that spec.
// Tasks that run stay where they are (Replaced tells which the update makes anew).
func (d *Draft) Update(serviceID string, change func(*api.ServiceSpec)) {
	before := d.service(serviceID)
	if before == nil {
		return
	}
	s := before.Copy()
	s.PreviousSpec, s.PreviousSpecVersion = before.Spec.Copy(), before.SpecVersion
	change(&s.Spec)
	s.SpecVersion = &api.Version{Index: 1}
	if before.SpecVersion != nil {
		s.SpecVersion.Index = before.SpecVersion.Index + 1
	}
	s.Endpoint = endpointOf(s)
	d.put[serviceID] = s
	for i, t := range d.Waiting {
		if t.ServiceID == serviceID {
			d.Waiting[i] = d.made(s, t)
		}
	}
}

// made is the task that an update makes in the place of another one.
func (d *Draft) made(s *api.Service, old *api.Task) *api.Task {
	return &api.Task{
		ID: old.ID, ServiceID: s.ID, Slot: old.Slot, NodeID: old.NodeID, JobIteration: old.JobIteration, Networks: old.Networks,
		Spec: s.Spec.Task, SpecVersion: s.SpecVersion, Endpoint: s.Endpoint,
		Status: api.TaskStatus{State: api.TaskStatePending}, DesiredState: old.DesiredState,
	}
}

// endpointOf gives the service the ports that its spec asks for; a host-mode port is never of Swarm's choice.
func endpointOf(s *api.Service) *api.Endpoint {
	if s.Spec.Endpoint == nil {
		return nil
	}
	return &api.Endpoint{Ports: s.Spec.Endpoint.Ports}
}

// Replaced returns the tasks of a service that are to run and that its update makes anew (manager/orchestrator.IsTaskDirty).
func (d *Draft) Replaced(serviceID string) []*api.Task {
	var dirty []*api.Task
	s := d.service(serviceID)
	if s == nil {
		return nil
	}
	compared := defaults.InterpolateService(&s.Spec)
	for t := range d.base.TasksOf(serviceID) {
		if t.DesiredState <= api.TaskStateCompleted && t.Status.State > api.TaskStatePending && t.Status.State <= api.TaskStateRunning &&
			d.isDirty(s, compared, t) {
			dirty = append(dirty, t)
		}
	}
	return dirty
}

// isDirty compares with defaults filled in: docker service inspect shows them in a spec, and tasks have none.
func (d *Draft) isDirty(s *api.Service, spec *api.ServiceSpec, t *api.Task) bool {
	service, task := *s, *t
	service.Spec = *spec
	task.Spec = defaults.InterpolateService(&api.ServiceSpec{Task: t.Spec}).Task
	if t.Endpoint != nil {
		task.Endpoint = nil
		if before := d.base.Service(s.ID); before != nil && !slices.EqualFunc(portsOf(&before.Spec), portsOf(spec), equalPorts) {
			return true
		}
	}
	return orchestrator.IsTaskDirty(&service, &task, d.base.Node(t.NodeID))
}

func portsOf(s *api.ServiceSpec) []*api.PortConfig {
	if s.Endpoint == nil {
		return nil
	}
	return s.Endpoint.Ports
}

func equalPorts(a, b *api.PortConfig) bool { return *a == *b }

// Move takes a task from its node, and lets it wait to be placed anew.
func (d *Draft) Move(t *api.Task) {
	d.gone = append(d.gone, t)
	moved := *t
	moved.NodeID, moved.Volumes, moved.AssignedGenericResources = "", nil, nil
	d.Waiting = append(d.Waiting, &moved)
}

// Evicted returns the tasks that would lose their place: those on a changed node that their constraints, or its
// availability, no longer allow there (manager/orchestrator/constraintenforcer).
func (d *Draft) Evicted() []*api.Task {
	var evicted []*api.Task
	for id, object := range d.put {
		n, is := object.(*api.Node)
		if !is {
			continue
		}
		for t := range d.base.TasksOn(id) {
			if t.Status.State > api.TaskStateRunning || t.DesiredState > api.TaskStateCompleted || t.Status.State < api.TaskStateAssigned {
				continue
			}
			if n.Spec.Availability == api.NodeAvailabilityDrain || !filters.MeetsConstraints(&t.Spec, n) {
				evicted = append(evicted, t)
			}
		}
	}
	return evicted
}

// spread makes a global service's tasks what the orchestrator makes of them in the draft: one on each node that may run
// it and has none (manager/orchestrator/global).
func (d *Draft) spread(serviceID string, state *collector.State) {
	s := state.Service(serviceID)
	if s == nil || s.Spec.GetGlobal() == nil && s.Spec.GetGlobalJob() == nil {
		return
	}
	has := map[string]bool{}
	d.Waiting = slices.DeleteFunc(d.Waiting, func(t *api.Task) bool {
		stays := t.ServiceID != serviceID || filters.RunsGlobal(s, state.Node(t.NodeID))
		has[t.NodeID] = has[t.NodeID] || stays && t.ServiceID == serviceID
		return !stays
	})
	for t := range state.TasksOf(serviceID) {
		has[t.NodeID] = has[t.NodeID] || t.DesiredState <= api.TaskStateCompleted && t.Status.State <= api.TaskStateRunning
	}
	for n := range state.Nodes() {
		if !has[n.ID] && filters.RunsGlobal(s, n) {
			d.Waiting = append(d.Waiting, d.made(s, &api.Task{ID: "task on " + n.ID, NodeID: n.ID, DesiredState: api.TaskStateRunning}))
		}
	}
}
