package whatif

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// others are the services that a change of services is not about, and of which tasks wait: what becomes free may place them.
type others struct {
	ids, names []string // by name
	// cluster is what they were last tried on; touched are the nodes that changed since: true where tasks ended there.
	cluster *filters.Cluster
	touched map[string]bool
	// rivals are the names of those of which some were placed where others of them were not.
	rivals map[string]bool
}

// follow finds what waits of the services that the change is not about.
func (r *rehearsal) follow(concerned map[string]bool) {
	r.others.cluster = filters.NewCluster(r.state)
	for s := range r.state.Services() {
		if !concerned[s.ID] && len(r.waitingOf(s.ID)) > 0 {
			r.others.ids = append(r.others.ids, s.ID)
			r.others.names = append(r.others.names, s.Spec.Annotations.Name)
		}
	}
}

func (r *rehearsal) waitingOf(id string) []*api.Task {
	var waiting []*api.Task
	for t := range r.state.TasksOf(id) {
		if waits(t) {
			waiting = append(waiting, t)
		}
	}
	return waiting
}

// placeOthers lets the scheduler look at what waits of others, where something became free since it last did. It does so
// after what the change itself makes; noteOthers tells where Swarm's may not.
func (r *rehearsal) placeOthers(ctx context.Context) error {
	tasks := r.takenNow()
	if len(tasks) == 0 {
		return nil
	}
	waiting, on, err := r.place(ctx, tasks)
	names := map[string]bool{}
	for _, t := range tasks {
		names[r.state.Service(t.ServiceID).Spec.Annotations.Name] = true
	}
	if len(names) > 1 && len(on) > 0 && len(waiting) > 0 {
		maps.Copy(r.others.rivals, names)
	}
	return err
}

// touch notes a node that changed, and whether something became free there.
func (o *others) touch(node string, freed bool) { o.touched[node] = o.touched[node] || freed }

// takenNow are the tasks that wait of others, of each service of which a node where tasks ended takes one. To know that
// takes a small part of the scheduler's time, and in most steps of an update there is none.
func (r *rehearsal) takenNow() []*api.Task {
	o := &r.others
	touched := o.touched
	if o.touched = map[string]bool{}; len(o.ids) == 0 || len(touched) == 0 {
		return nil
	}
	o.cluster = o.cluster.Renew(r.state, touched, filters.NoneGone)
	var taken []*api.Task
	for _, id := range o.ids {
		if waiting := r.waitingOf(id); slices.ContainsFunc(waiting, func(t *api.Task) bool { return o.takes(t, touched) }) {
			taken = append(taken, waiting...)
		}
	}
	return taken
}

// takes tells whether a node where tasks ended takes the task.
func (o *others) takes(t *api.Task, touched map[string]bool) bool {
	for node, freed := range touched {
		if !freed {
			continue
		}
		if row, judged := o.cluster.JudgeOn(t, node); len(filters.ClusterMounts(t)) > 0 || judged && row.Passes() {
			return true
		}
	}
	return false
}

// concludeOthers counts what is placed of others, and what is not.
func (r *rehearsal) concludeOthers(ctx context.Context, diagnoses map[string][]analyzer.Diagnosis) {
	if !r.freed {
		return // nothing is different for them
	}
	for _, id := range r.others.ids {
		s := r.serviceOutcome(ctx, id, nil)
		if s.Placed == 0 {
			r.out.StillWaiting = append(r.out.StillWaiting, Waiters{s.Name, s.Waiting})
			continue
		}
		s.Other = true
		r.explain(s, diagnoses[s.Name])
		r.out.Services = append(r.out.Services, *s)
	}
	r.noteOthers()
}

// noteOthers tells what depends on the order in which the scheduler looks at what waits: nothing says which it is.
func (r *rehearsal) noteOthers() {
	if r.contested && len(r.others.names) > 0 {
		r.note("whether tasks that wait already take the room that becomes free first: of " + strings.Join(r.others.names, ", "))
	}
	if len(r.others.rivals) > 0 {
		r.note("which of the tasks that wait take the room that becomes free: of " + strings.Join(slices.Sorted(maps.Keys(r.others.rivals)), ", ") +
			"; the scheduler looks at them in any order")
	}
}
