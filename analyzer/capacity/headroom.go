package capacity

import (
	"context"
	"fmt"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

// mostReplicas is how many more replicas of a service are looked for.
const mostReplicas = 1000

// Headroom is how many more replicas of a service fit as things are, were nothing else to be placed.
type Headroom struct {
	Service string `json:"service"`
	// Replicas is that number, or the most that was looked for where AtLeast is set.
	Replicas int  `json:"replicas"`
	AtLeast  bool `json:"at_least,omitempty"`
	// Proven tells that swarmkit's scheduler placed as many in a copy, and not one more.
	Proven bool `json:"proven"`
}

// Headrooms tells how many more replicas of each replicated service fit, by name: counted from what each node has left,
// and where cluster volumes decide by the scheduler. ended tells that the time was up before all were looked at.
func Headrooms(ctx context.Context, state *collector.State) (all []Headroom, ended bool, err error) {
	cluster := filters.NewCluster(state)
	for s := range state.Services() {
		if s.Spec.GetReplicated() == nil {
			continue
		}
		if ctx.Err() != nil {
			return all, true, nil
		}
		model := analyzer.ModelTask(state, s)
		h := Headroom{Service: s.Spec.Annotations.Name}
		if len(filters.ClusterMounts(model)) > 0 {
			err := h.prove(ctx, state, model, mostReplicas)
			if outOfTime(err) {
				return all, true, nil
			}
			if err != nil {
				return nil, false, err
			}
		} else {
			for _, row := range cluster.Judge(model) {
				h.Replicas += roomOn(row, model)
			}
			h.cap()
		}
		all = append(all, h)
	}
	return all, false, nil
}

// Prove lets the scheduler place as many more replicas of each service as were counted and one more. Where it does not
// come to the same, its number is told. ended tells that the time was up before it could do so for all.
func Prove(ctx context.Context, state *collector.State, all []Headroom) (ended bool, err error) {
	for i := range all {
		s := state.ServiceNamed(all[i].Service)
		if s == nil || all[i].Proven {
			continue
		}
		err := all[i].prove(ctx, state, analyzer.ModelTask(state, s), all[i].Replicas+1)
		if outOfTime(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

func (h *Headroom) prove(ctx context.Context, state *collector.State, model *api.Task, number int) error {
	tasks := make([]*api.Task, min(number, mostReplicas))
	for i := range tasks {
		t := *model
		t.ID, t.Slot, t.DesiredState = fmt.Sprintf("one more %d", i+1), uint64(i+1), api.TaskStateRunning
		t.Status = api.TaskStatus{State: api.TaskStatePending}
		tasks[i] = &t
	}
	placement, err := remedy.Place(ctx, state, tasks)
	if err != nil {
		return fmt.Errorf("place more replicas of %s: %w", h.Service, err)
	}
	h.Replicas, h.Proven = len(placement.On), true
	h.cap()
	return nil
}

func (h *Headroom) cap() {
	h.AtLeast = h.Replicas >= mostReplicas
	h.Replicas = min(h.Replicas, mostReplicas)
}

// roomOn is how many tasks alike a node takes: none where a filter refuses the first. After that it is resources, host ports
// and the limit of replicas that run out.
func roomOn(row filters.Row, t *api.Task) int {
	if !row.Passes() {
		return 0
	}
	room := int64(mostReplicas)
	asked, free := filters.Reservations(t), row.Node.Available()
	if asked.MemoryBytes > 0 {
		room = min(room, free.MemoryBytes/asked.MemoryBytes)
	}
	if asked.NanoCPUs > 0 {
		room = min(room, free.NanoCPUs/asked.NanoCPUs)
	}
	for what, amount := range filters.Asked(t) {
		if what != filters.Memory && what != filters.CPU && amount > 0 {
			room = min(room, int64(row.Node.Free(what)/amount))
		}
	}
	for range filters.HostPorts(t) {
		room = min(room, 1)
	}
	if p := t.Spec.Placement; p != nil && p.MaxReplicas > 0 {
		room = min(room, int64(p.MaxReplicas)-int64(row.Node.ActiveTasks(t.ServiceID)))
	}
	return int(max(room, 0))
}
