package remedy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// trial is one diagnosis whose proposals are tried.
type trial struct {
	state   *collector.State
	cluster *filters.Cluster
	subject string // the service's id
	waiting []*api.Task
	rivals  []*rival
}

func newTrial(state *collector.State, d *analyzer.Diagnosis) *trial {
	t := &trial{state: state, cluster: clusterOf(state, d), subject: d.Subject.ID}
	t.rivals = rivalsOf(state, t.subject)
	for _, w := range d.Waiting {
		for _, task := range w.Tasks {
			if task.ID != "" { // what no-eligible-node judges does not exist
				t.waiting = append(t.waiting, task)
			}
		}
	}
	return t
}

// clusterOf is the cluster of a state. What the analysis of the same state has of it need not be read again, but for the
// cluster volumes: judging a task books them for a moment.
func clusterOf(state *collector.State, d *analyzer.Diagnosis) *filters.Cluster {
	if p := d.Waiting[0].Pass; p.State == state {
		return p.Cluster.Renew(state, nil, filters.NoneGone)
	}
	return filters.NewCluster(state)
}

// prove applies a proposal to a copy, and tells what swarmkit's scheduler makes of it.
func (t *trial) prove(ctx context.Context, p proposal) (analyzer.Remedy, error) {
	r := p.remedy()
	draft := NewDraft(t.state, t.waiting)
	if p.change == nil {
		if p.disturbs != nil {
			p.disturbs(draft)
			t.evicts(&r, draft)
		}
		return r, nil
	}
	draft.cluster = t.cluster
	p.change(draft)
	before, err := draft.State()
	if err != nil {
		return r, err
	}
	draft.spread(t.subject, before)
	outcome, err := draft.Place(ctx)
	if err != nil || len(outcome.On) == 0 {
		return r, err
	}
	if holds, err := holdsAlways(ctx, draft, &outcome); err != nil || !holds {
		return r, err
	}
	r.Verified, r.Places, r.On = true, len(outcome.On), nodeNames(t.cluster, alike(&outcome, draft.Waiting))
	t.moves(&r, outcome.Moves)
	t.evicts(&r, draft)
	t.competes(&r, draft, &outcome)
	if note := resumes(t.state.Service(t.subject)); note != "" && draft.updates(t.subject) {
		r.Note = join(r.Note, note)
	}
	return r, t.replaces(ctx, &r, draft, &outcome)
}

// branches is how many choices of the scheduler are followed at most; a move that has more is not called proven.
const branches = 64

// holdsAlways tells whether a draft that moves tasks comes to as much whichever of the nodes that are as good the scheduler takes
// for each service's one task. Where several of a service move, those are placed as it happens to, once for each such choice.
func holdsAlways(ctx context.Context, draft *Draft, outcome *Outcome) (bool, error) {
	if !outcome.tight {
		return true, nil
	}
	for range branches {
		other, err := draft.Place(ctx)
		if err != nil || len(other.On) < len(outcome.On) || len(other.Moves) < len(outcome.Moves) {
			return false, err
		}
		if draft.picks = next(draft.picks, other.choices); draft.picks == nil {
			return true, nil
		}
	}
	return false, nil
}

// next are the picks that follow, the last counted up first; nil after the last ones.
func next(picks, choices []int) []int {
	after := make([]int, len(choices))
	copy(after, picks)
	for i := len(after) - 1; i >= 0; i-- {
		if after[i]++; after[i] < choices[i] {
			return after
		}
		after[i] = 0
	}
	return nil
}

// replaces tells which tasks of the service itself restart, and whether all of these find a place again: those that do not are
// taken off what the change places.
func (t *trial) replaces(ctx context.Context, r *analyzer.Remedy, draft *Draft, outcome *Outcome) error {
	s := outcome.state.Service(t.subject)
	replaced := draft.Replaced(t.subject)
	if isJob(s) && draft.updates(t.subject) {
		running, completed := begun(t.state, s)
		beginsAnew(r, running, completed)
		replaced = running
	}
	if len(replaced) == 0 {
		return nil
	}
	if !isJob(s) {
		r.Restarts += len(replaced)
		raise(r, analyzer.Restarts)
		if len(replaced) == analyzer.Parallelism(s, len(replaced)) && !analyzer.IsStartFirst(s) {
			raise(r, analyzer.Outage)
		}
	}
	var anew []*api.Task // besides those that take the place of one that waits
	for _, task := range replaced {
		if !slices.ContainsFunc(draft.Waiting, func(w *api.Task) bool { return sameSlot(w, task) }) {
			made := draft.made(s, task)
			made.ID = "instead of " + task.ID
			anew = append(anew, made)
		}
	}
	lost, err := unplaced(ctx, outcome, draft.Waiting, anew, replaced)
	if err != nil {
		return err
	}
	if lost > 0 {
		raise(r, analyzer.Outage)
		r.Note = join(r.Note, fmt.Sprintf("%d that wait would be placed, and %d of its tasks that run now would have no place after the update", r.Places, lost))
		r.Places = max(r.Places-lost, 0)
	} else if analyzer.IsStartFirst(s) {
		if lost, err = unplaced(ctx, outcome, draft.Waiting, anew[:analyzer.Parallelism(s, len(anew))], nil); lost > 0 {
			r.Note = join(r.Note, "there is no room for a new task beside the old ones, as update order start-first needs: the update would wait")
		}
	}
	return err
}

// unplaced is how many tasks find no place besides those that do of the waiting, once others have ended.
func unplaced(ctx context.Context, outcome *Outcome, waiting, more, ended []*api.Task) (int, error) {
	if len(more) == 0 {
		return 0, nil
	}
	draft := NewDraft(outcome.state, slices.Concat(waiting, more))
	draft.cluster = outcome.cluster
	for _, t := range ended {
		draft.Stop(t)
	}
	after, err := draft.Place(ctx)
	return max(len(outcome.On)+len(more)-len(after.On), 0), err
}

// sameSlot tells whether an update has one task take the other's place.
func sameSlot(a, b *api.Task) bool {
	return a.ServiceID == b.ServiceID && a.Slot == b.Slot && (a.Slot != 0 || a.NodeID == b.NodeID)
}

// evicts tells which tasks have to leave their node.
func (t *trial) evicts(r *analyzer.Remedy, draft *Draft) {
	evicted := draft.Evicted()
	if len(evicted) == 0 {
		return
	}
	raise(r, analyzer.Outage)
	r.Restarts += len(evicted)
	r.Note = join(r.Note, fmt.Sprintf("%s would have to leave the node: %s", count(len(evicted), "task"), strings.Join(serviceNames(t.state, evicted), ", ")))
	for _, task := range evicted {
		t.leaves(r, task, task.NodeID)
	}
}

// leaves tells what a task that goes elsewhere leaves behind on its node.
func (t *trial) leaves(r *analyzer.Remedy, task *api.Task, nodeID string) {
	if local := localMounts(task); len(local) > 0 {
		raise(r, analyzer.DataRisk)
		r.Note = join(r.Note, fmt.Sprintf("what %s keeps in %s stays on %s", serviceNames(t.state, []*api.Task{task})[0], strings.Join(local, ", "), t.cluster.Node(nodeID).Name))
	}
}

// moves tells of the tasks that go from one node to another.
func (t *trial) moves(r *analyzer.Remedy, moves []Move) {
	for _, m := range moves {
		raise(r, analyzer.Restarts)
		r.Restarts++
		r.Note = join(r.Note, fmt.Sprintf("moves a task of %s (%s) from %s to %s, which Swarm does not do by itself",
			serviceNames(t.state, []*api.Task{m.Task})[0], m.Task.ID, t.cluster.Node(m.From).Name, t.cluster.Node(m.To).Name))
		running, moved := 0, 0
		for _, other := range moves {
			if other.Task.ServiceID == m.Task.ServiceID {
				moved++
			}
		}
		for other := range t.state.TasksOf(m.Task.ServiceID) {
			if other.Status.State == api.TaskStateRunning && other.DesiredState <= api.TaskStateCompleted {
				running++
			}
		}
		if running <= moved && !analyzer.IsStartFirst(t.state.Service(m.Task.ServiceID)) {
			raise(r, analyzer.Outage)
		}
		t.leaves(r, m.Task, m.From)
	}
}

// localMounts are the volumes and folders of a task that are its node's own.
func localMounts(t *api.Task) []string {
	var local []string
	if c := t.Spec.GetContainer(); c != nil {
		for _, m := range c.Mounts {
			driver := ""
			if m.VolumeOptions != nil && m.VolumeOptions.DriverConfig != nil {
				driver = m.VolumeOptions.DriverConfig.Name
			}
			if m.Type == api.MountTypeBind || m.Type == api.MountTypeVolume && (driver == "" || driver == "local") {
				local = append(local, m.Target)
			}
		}
	}
	return local
}

// risks are in the order of what they cost.
var risks = []analyzer.Risk{analyzer.NoRisk, analyzer.Restarts, analyzer.Outage, analyzer.DataRisk}

// raise makes the risk of a remedy at least this one.
func raise(r *analyzer.Remedy, to analyzer.Risk) {
	r.Risk = risks[max(slices.Index(risks, r.Risk), slices.Index(risks, to))]
}

func nodeNames(cluster *filters.Cluster, ids map[string]bool) []string {
	names := []string{}
	for _, n := range cluster.Nodes() {
		if ids[n.ID] {
			names = append(names, n.Name)
		}
	}
	return names
}

// alike are the nodes that tasks were placed on, and those that the scheduler could as well have taken: of nodes that have
// as many tasks of the service and in all it takes any (manager/scheduler.Scheduler.scheduleNTasksOnSubtree).
func alike(o *Outcome, waiting []*api.Task) map[string]bool {
	nodes := map[string]bool{}
	for _, t := range waiting {
		placed := o.cluster.Node(o.On[t.ID])
		if placed == nil || nodes[placed.ID] {
			continue
		}
		for _, n := range o.cluster.Nodes() {
			if n.Active() == placed.Active() && n.ActiveTasks(t.ServiceID) == placed.ActiveTasks(t.ServiceID) {
				if row, judged := o.cluster.JudgeOn(t, n.ID); judged && row.Passes() {
					nodes[n.ID] = true
				}
			}
		}
		nodes[placed.ID] = true
	}
	return nodes
}

func serviceNames(state *collector.State, tasks []*api.Task) []string {
	var names []string
	for _, t := range tasks {
		name := t.ServiceID
		if s := state.Service(t.ServiceID); s != nil {
			name = s.Spec.Annotations.Name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// order puts what is proven first, then what disturbs less, then what places more.
func order(remedies []analyzer.Remedy) {
	verified := func(r analyzer.Remedy) int {
		if r.Verified {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(remedies, func(a, b analyzer.Remedy) int {
		return cmp.Or(
			verified(a)-verified(b),
			slices.Index(risks, a.Risk)-slices.Index(risks, b.Risk),
			b.Places-a.Places,
			a.Restarts-b.Restarts,
		)
	})
}
