package remedy

import (
	"context"
	"fmt"
	"maps"
	"math"
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
	cluster *filters.Cluster // of base; nil until it is needed
	put     map[string]any   // by id
	gone    []any
	moving  []leaving
	picks   []int       // which of the nodes that are as good each service's one task moves to; the first where that is not told
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
func (d *Draft) Node(id string) *api.Node { return own(d, id, d.base.Node) }

// Volume returns a copy of a cluster volume to change; nil where there is none.
func (d *Draft) Volume(id string) *api.Volume { return own(d, id, d.base.Volume) }

// own returns the draft's copy of an object, which it makes the first time.
func own[T interface {
	comparable
	Copy() T
}](d *Draft, id string, find func(id string) T) T {
	if o, is := d.put[id].(T); is {
		return o
	}
	var none T
	o := find(id)
	if o == none {
		return none
	}
	o = o.Copy()
	d.put[id] = o
	return o
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
	s.UpdateStatus = nil // what was under way is over (manager/controlapi.Server.UpdateService)
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

// updates tells whether the draft updates a service.
func (d *Draft) updates(serviceID string) bool {
	_, is := d.put[serviceID].(*api.Service)
	return is
}

// made is the task that an update makes in the place of another one.
func (d *Draft) made(s *api.Service, old *api.Task) *api.Task {
	return &api.Task{
		ID: old.ID, ServiceID: s.ID, Slot: old.Slot, NodeID: old.NodeID, JobIteration: old.JobIteration, Networks: old.Networks,
		Spec: s.Spec.Task, SpecVersion: s.SpecVersion, Endpoint: s.Endpoint,
		Status: api.TaskStatus{State: api.TaskStatePending}, DesiredState: old.DesiredState,
	}
}

// updateSettings are those of a spec to change, the defaults where it has none.
func updateSettings(spec *api.ServiceSpec) *api.UpdateConfig {
	if spec.Update == nil {
		spec.Update = defaults.Service.Update.Copy()
	}
	return spec.Update
}

// endpointOf gives the service the ports that its spec asks for; a host-mode port is never of Swarm's choice.
func endpointOf(s *api.Service) *api.Endpoint {
	if s.Spec.Endpoint == nil {
		return nil
	}
	return &api.Endpoint{Ports: s.Spec.Endpoint.Ports}
}

// Replaced returns the tasks of a service that have a place and that its update makes anew; none where the draft does not
// update it.
func (d *Draft) Replaced(serviceID string) []*api.Task {
	return slices.DeleteFunc(d.Dirty(serviceID), func(t *api.Task) bool { return t.Status.State <= api.TaskStatePending })
}

// Dirty returns the tasks of a service that are to run, also those that wait, and that its update makes anew
// (manager/orchestrator.IsTaskDirty); none where the draft does not update it.
func (d *Draft) Dirty(serviceID string) []*api.Task {
	var dirty []*api.Task
	if !d.updates(serviceID) {
		return nil
	}
	s := d.service(serviceID)
	compared := defaults.InterpolateService(&s.Spec)
	for t := range d.base.TasksOf(serviceID) {
		if t.DesiredState <= api.TaskStateCompleted && t.Status.State <= api.TaskStateRunning && d.isDirty(s, compared, t) {
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

// Stop ends a task before anything is placed: what it holds is free.
func (d *Draft) Stop(t *api.Task) { d.gone = append(d.gone, t) }

// Move lets the tasks of a service that its update makes anew find their new places first, while all of them still run.
func (d *Draft) Move(serviceID string) { d.MoveSome(serviceID, math.MaxInt) }

// MoveSome is Move for so many of them; the others stay as they are.
func (d *Draft) MoveSome(serviceID string, most int) {
	d.moving = append(d.moving, leaving{serviceID, most})
}

// leaving is a service of which so many tasks at most are to find new places.
type leaving struct {
	service string
	most    int
}

// Move is a task that goes from one node to another; the ids of both.
type Move struct {
	Task     *api.Task
	From, To string
}

// Outcome is what became of a draft.
type Outcome struct {
	// On is the id of the node that a waiting task was placed on, by the task's id; those that were not placed are not there.
	On    map[string]string
	Moves []Move
	// tight tells that where a task that moves goes may decide whether another one finds a place: of nodes that are as good the
	// scheduler takes any.
	tight bool
	// choices are how many nodes are as good for each service's task that moves.
	choices []int

	state   *collector.State // with the changes, and without what was placed of the waiting
	cluster *filters.Cluster // of state
}

// Place lets swarmkit's scheduler place what waits, once what moves has moved and other global services have what is theirs
// on the nodes that changed. Where something that moves finds no place, nothing is placed.
func (d *Draft) Place(ctx context.Context) (Outcome, error) {
	var o Outcome
	var err error
	if o.state, err = d.State(); err != nil {
		return o, err
	}
	if d.cluster == nil {
		d.cluster = filters.NewCluster(d.base)
	}
	o.cluster = d.cluster.Renew(o.state, d.touched(), filters.NoneGone)
	for _, l := range d.moving {
		if moved, err := d.move(ctx, &o, l); err != nil || !moved {
			return o, err
		}
	}
	if err := d.first(ctx, &o); err != nil {
		return o, err
	}
	o.On, err = place(ctx, o.state, o.cluster, d.Waiting)
	o.tight = o.tight || len(o.Moves) > 0 && !o.onlyOnFreed() && o.isScarce(d.Waiting)
	return o, err
}

// onlyOnFreed tells whether all that was placed is on nodes that tasks moved away from.
func (o *Outcome) onlyOnFreed() bool {
	for _, node := range o.On {
		if !slices.ContainsFunc(o.Moves, func(m Move) bool { return m.From == node }) {
			return false
		}
	}
	return true
}

// isScarce tells whether tasks alike may find too few nodes, had those that moved before them gone elsewhere: each of these takes
// one such node at most.
func (o *Outcome) isScarce(alike []*api.Task) bool {
	takes := 0
	for _, row := range o.cluster.Judge(alike[0]) {
		if row.Passes() {
			takes++
		}
	}
	return takes < len(alike)+len(o.Moves)
}

// pick has a task go to one of the nodes that are as good as the one that the scheduler took.
func (d *Draft) pick(o *Outcome, placed map[string]string, one []*api.Task) {
	alike := slices.Sorted(maps.Keys(alike(&Outcome{On: placed, cluster: o.cluster}, one)))
	step := len(o.choices)
	o.choices = append(o.choices, len(alike))
	if step < len(d.picks) {
		placed[one[0].ID] = alike[d.picks[step]%len(alike)]
	}
}

// touched are the ids of the nodes that are other ones than before, or hold something else.
func (d *Draft) touched() map[string]bool {
	ids := map[string]bool{}
	for id, object := range d.put {
		if _, is := object.(*api.Node); is {
			ids[id] = true
		}
	}
	for _, object := range d.gone {
		if t, is := object.(*api.Task); is {
			ids[t.NodeID] = true
		}
	}
	return ids
}

// move places the tasks that an update makes in the place of others, and ends those; false where one finds no place.
func (d *Draft) move(ctx context.Context, o *Outcome, l leaving) (bool, error) {
	var anew []*api.Task
	old := map[string]*api.Task{}
	replaced := d.Replaced(l.service)
	for _, t := range replaced[:min(len(replaced), l.most)] {
		made := d.made(d.service(l.service), t)
		made.ID, made.NodeID = "instead of "+t.ID, ""
		old[made.ID] = t
		anew = append(anew, made)
	}
	if len(anew) == 0 {
		return false, nil
	}
	o.tight = o.tight || len(o.Moves)+len(anew) > 1 && o.isScarce(anew)
	placed, err := place(ctx, o.state, o.cluster, anew)
	if err != nil || len(placed) < len(anew) {
		return false, err
	}
	if len(anew) == 1 {
		d.pick(o, placed, anew)
	}
	touched := map[string]bool{}
	var put, gone []any
	for _, t := range anew {
		was := old[t.ID]
		t.NodeID, t.Status.State = placed[t.ID], api.TaskStateRunning
		put, gone = append(put, t), append(gone, was)
		touched[t.NodeID], touched[was.NodeID] = true, true
		o.Moves = append(o.Moves, Move{was, was.NodeID, t.NodeID})
	}
	return true, o.become(put, gone, touched)
}
