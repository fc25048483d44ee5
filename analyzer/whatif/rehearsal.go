package whatif

import (
	"cmp"
	"context"
	"fmt"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

// rehearsal is a copy of the swarm that the change is done to, step by step.
type rehearsal struct {
	before *collector.State // as it is, once the orchestrators have given up what is stranded
	state  *collector.State
	now    *gogotypes.Timestamp
	placed map[string]int // tasks that were given a node, by service id
	// evicted are tasks that a changed node stopped, updated the ids of services that the change makes or updates.
	evicted []*api.Task
	updated map[string]bool
	// excluded counts the running tasks of updated global services that end because their nodes are no longer among its own, by
	// service id.
	excluded map[string]int
	// stranded are the ids of services with tasks on nodes that are down or drained.
	stranded map[string]bool
	// freed tells that running tasks ended, so that there may be room for what waits of others; contested that tasks of the
	// services that the change is about had to be placed since.
	freed, contested bool
	others           others
	// notes are what cannot be known of what follows.
	notes map[string]bool
	out   *Outcome
}

func newRehearsal(state *collector.State, now time.Time) (*rehearsal, error) {
	stamp, err := gogotypes.TimestampProto(now)
	if err != nil {
		return nil, fmt.Errorf("date what is tried: %w", err)
	}
	return &rehearsal{
		before: state, state: state, now: stamp, out: &Outcome{},
		placed: map[string]int{}, updated: map[string]bool{}, excluded: map[string]int{}, stranded: map[string]bool{}, notes: map[string]bool{},
		others: others{touched: map[string]bool{}, rivals: map[string]bool{}},
	}, nil
}

func (r *rehearsal) note(text string) { r.notes[text] = true }

// with changes the copy.
func (r *rehearsal) with(put []any, gone ...any) error {
	state, err := r.state.With(put, gone...)
	if err != nil {
		return fmt.Errorf("change a copy of the swarm: %w", err)
	}
	r.state = state
	return nil
}

// end takes tasks out, as if they had stopped.
func (r *rehearsal) end(tasks ...*api.Task) error {
	gone := make([]any, len(tasks))
	for i, t := range tasks {
		gone[i] = t
		if isHere(t) {
			r.freed = true
			r.others.touch(t.NodeID, true)
		}
	}
	return r.with(nil, gone...)
}

// placeOwn places tasks of the services that the change is about.
func (r *rehearsal) placeOwn(ctx context.Context, tasks []*api.Task) (waiting []*api.Task, on []string, err error) {
	r.contested = r.contested || r.freed && len(tasks) > 0
	return r.place(ctx, tasks)
}

// place lets the scheduler look at tasks, and has those run that it gives a node. It returns the others.
func (r *rehearsal) place(ctx context.Context, tasks []*api.Task) (waiting []*api.Task, on []string, err error) {
	if len(tasks) == 0 {
		return nil, nil, nil
	}
	placement, err := remedy.Place(ctx, r.state, tasks)
	if err != nil {
		return nil, nil, err
	}
	put := make([]any, len(tasks))
	for i, t := range tasks {
		task := t.Copy()
		task.Status = api.TaskStatus{State: api.TaskStatePending, Timestamp: r.now}
		// of a spec that is no longer the service's the scheduler says nothing anew (manager/scheduler.Scheduler.noSuitableNode)
		task.Status.Err = cmp.Or(placement.Err[t.ID], t.Status.Err)
		if node := placement.On[t.ID]; node != "" {
			task.NodeID, task.Status.State = node, api.TaskStateRunning
			task.Volumes = r.volumes(t)
			r.placed[t.ServiceID]++
			r.others.touch(node, false)
			on = append(on, node)
		} else {
			waiting = append(waiting, task)
		}
		put[i] = task
	}
	return waiting, on, r.with(put)
}

// volumes are the cluster volumes that a placed task uses by name; of a group the scheduler takes any, which is not told.
func (r *rehearsal) volumes(t *api.Task) []*api.VolumeAttachment {
	container := t.Spec.GetContainer()
	if container == nil {
		return nil
	}
	var used []*api.VolumeAttachment
	for _, mount := range container.Mounts {
		if mount.Type != api.MountTypeCluster {
			continue
		}
		for v := range r.state.Volumes() {
			if v.Spec.Annotations.Name == mount.Source {
				used = append(used, &api.VolumeAttachment{ID: v.ID, Source: mount.Source, Target: mount.Target})
			}
		}
	}
	return used
}

// task is one that an orchestrator makes of a service (manager/orchestrator.NewTask), with what the allocator adds.
func (r *rehearsal) task(s *api.Service, slot uint64, node string) *api.Task {
	t := &api.Task{
		ID: fmt.Sprintf("new task %s.%d%s", s.Spec.Annotations.Name, slot, node), ServiceID: s.ID, Slot: slot, NodeID: node,
		Meta: api.Meta{CreatedAt: r.now, UpdatedAt: r.now}, Spec: s.Spec.Task, SpecVersion: s.SpecVersion,
		ServiceAnnotations: s.Spec.Annotations, DesiredState: api.TaskStateRunning, Endpoint: &api.Endpoint{},
		Status: api.TaskStatus{State: api.TaskStatePending, Timestamp: r.now},
	}
	if s.Spec.Endpoint != nil {
		t.Endpoint.Ports = s.Spec.Endpoint.Ports
	}
	if s.JobStatus != nil {
		t.JobIteration, t.DesiredState = &s.JobStatus.JobIteration, api.TaskStateCompleted
	}
	for _, n := range networksOf(s) {
		if network := r.state.Network(n.Target); network != nil {
			t.Networks = append(t.Networks, &api.NetworkAttachment{Network: network})
		}
	}
	return t
}

// displace notes tasks that lose their place.
func (r *rehearsal) displace(tasks []*api.Task, why string) {
	names := filters.NewCluster(r.before)
	for _, t := range tasks {
		node := names.Node(t.NodeID)
		if node == nil || !isHere(t) {
			continue
		}
		service := t.ServiceID
		if s := r.before.Service(t.ServiceID); s != nil {
			service = s.Spec.Annotations.Name
		}
		entry := Displaced{Service: service, Node: node.Name, Why: why}
		found := false
		for i, d := range r.out.Displaced {
			if d.Service == entry.Service && d.Node == entry.Node && d.Why == why {
				r.out.Displaced[i].Tasks++
				found = true
			}
		}
		if !found {
			entry.Tasks = 1
			r.out.Displaced = append(r.out.Displaced, entry)
		}
	}
}

func countHere(tasks []*api.Task) int {
	n := 0
	for _, t := range tasks {
		if isHere(t) {
			n++
		}
	}
	return n
}

// waits tells that a task is to run and has no node yet.
func waits(t *api.Task) bool { return analyzer.IsToRun(t) && t.Status.State == api.TaskStatePending }

// isHere tells that a task has a node and is to stay there.
func isHere(t *api.Task) bool {
	return analyzer.IsToRun(t) && t.Status.State > api.TaskStatePending
}
