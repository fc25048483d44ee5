package analyzer

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Stuck is one slot of a service (of a global one: its task on a node) that is not as desired.
type Stuck struct {
	Service *api.Service
	Task    *api.Task // nil where no task exists
	Slot    uint64
	Slots   int    // how many slots without a task this is; zero with one
	State   string // the task's state, none without a task, stopping for one that should end
	// Since is when the slot was last as desired, or was made; Overdue is when its threshold passes.
	Since, Overdue time.Time

	// notBefore moves what is overdue for a reason that one pass finds.
	notBefore time.Time
	// failing is true where tasks of the slot have failed since it was last as desired.
	failing, explained bool
	// ageless is true where it counts only since nothing tells how long it has been so.
	ageless bool
}

// slotKey is what the orchestrator fills: a slot, or for a global service a node.
type slotKey struct {
	slot uint64
	node string
}

// follow looks at the slots of a service: how many run, how many should, and which are stuck.
func (p *Pass) follow(s *api.Service, tasks []*api.Task) *Followed {
	filled, slots := 0, groupBySlot(s, tasks)
	f := &Followed{Service: s, Tasks: tasks, Wanted: p.wanted(s, slots)}
	for _, t := range tasks {
		if t.NodeID != "" && t.Status.State >= api.TaskStateAssigned {
			f.placed = later(f.placed, created(t))
		}
	}
	for _, key := range sortedSlots(slots) {
		if isFilled, runs := p.followSlot(f, key, slots[key]); isFilled {
			filled++
			if runs {
				f.Running++
			}
		}
	}
	if isGlobal(s) {
		p.missingOnNodes(f, slots)
	} else if missing := f.Wanted - filled; missing > 0 && (!isJob(s) || f.Live == 0) {
		p.missing(f, missing)
	}
	return f
}

// Followed is a service with what its slots are doing.
type Followed struct {
	Service *api.Service
	Tasks   []*api.Task
	// Running and Wanted count slots; Live counts tasks that the orchestrator keeps.
	Running, Wanted, Live int
	Stuck                 []*Stuck
	// placed is when the newest task was made that has a node.
	placed time.Time
}

// followSlot tells whether the orchestrator regards the slot as filled, and whether its task runs.
func (p *Pass) followSlot(f *Followed, key slotKey, tasks []*api.Task) (filled, runs bool) {
	var newest, ended *api.Task
	for _, t := range tasks {
		switch {
		case isLive(t):
			f.Live++
			filled = true
			runs = runs || asDesired(f.Service, t)
			newest = t
		case t.Status.State > api.TaskStateRunning:
			ended = t
		}
	}
	switch {
	case newest != nil && !asDesired(f.Service, newest):
		f.Stuck = append(f.Stuck, p.stuck(f.Service, newest, key, tasks, stateOf(newest)))
	case newest == nil && ended != nil && (key.node == "" || p.runsGlobal(f.Service, key.node)):
		filled = ended.Status.State != api.TaskStateShutdown
		if filled && !isDone(f.Service, ended) {
			f.Stuck = append(f.Stuck, p.stuck(f.Service, ended, key, tasks, stateOf(ended)))
		}
	}
	return filled, runs
}

// stuck makes an entry for a slot in a state other than the desired one.
func (p *Pass) stuck(s *api.Service, t *api.Task, key slotKey, tasks []*api.Task, state string) *Stuck {
	since, failing := history(s, t, tasks)
	from := later(since, created(t))
	if t.Status.State > api.TaskStatePending {
		from = later(since, entered(t))
	}
	overdue := from.Add(p.patience.threshold(s, t, state))
	if failing {
		if early := since.Add(p.patience.threshold(s, t, stateFailing)); early.Before(overdue) {
			overdue = early
		}
	}
	return &Stuck{Service: s, Task: t, Slot: key.slot, State: state, Since: since, Overdue: overdue, failing: failing}
}

// history tells when the slot was last as desired, or else was made, and whether its tasks have failed since.
func history(s *api.Service, stuck *api.Task, tasks []*api.Task) (since time.Time, failing bool) {
	made, good := created(stuck), time.Time{}
	for _, t := range tasks {
		if c := created(t); c.Before(made) {
			made = c
		}
		if t != stuck && wasAsDesired(s, t) {
			good = later(good, left(t))
		}
	}
	for _, t := range tasks {
		failed := t.Status.State == api.TaskStateFailed || t.Status.State == api.TaskStateRejected
		failing = failing || failed && t.Status.Err != "" && !entered(t).Before(good)
	}
	return later(made, good), failing
}

// wasAsDesired tells whether a task ran for as long as the update monitor before it ended.
func wasAsDesired(s *api.Service, t *api.Task) bool {
	switch t.Status.State {
	case api.TaskStateRunning, api.TaskStateCompleted, api.TaskStateShutdown:
	case api.TaskStateFailed:
		if !strings.HasPrefix(t.Status.Err, "task: non-zero exit") || strings.Contains(t.Status.Err, "unhealthy") {
			return false
		}
	default:
		return false
	}
	return left(t).Sub(created(t)) >= restartDelay(t)+monitor(s)
}

// left is when a task ceased to be as desired: it ended, or it runs and was told to stop, as what ran on a node that went down.
func left(t *api.Task) time.Time {
	if t.Status.State == api.TaskStateRunning && !isLive(t) {
		return later(entered(t), at(t.Meta.UpdatedAt))
	}
	return entered(t)
}

// missing makes one entry for slots without any task.
func (p *Pass) missing(f *Followed, count int) {
	since := at(f.Service.Meta.CreatedAt)
	for _, t := range f.Tasks {
		since = later(since, entered(t))
	}
	if u := f.Service.UpdateStatus; u != nil {
		since = later(since, at(u.StartedAt))
	}
	f.Stuck = append(f.Stuck, &Stuck{
		Service: f.Service, State: stateNone, Slots: count, Since: since,
		Overdue: since.Add(p.patience.threshold(f.Service, nil, stateNone)),
	})
}

// missingOnNodes finds the nodes that should have a task of a global service and have none. A node is given the time
// of the threshold from its own last change on.
func (p *Pass) missingOnNodes(f *Followed, slots map[slotKey][]*api.Task) {
	for _, n := range p.Cluster.Nodes() {
		if _, has := slots[slotKey{node: n.ID}]; has || n.Status.State != api.NodeStatus_READY || !p.runsGlobal(f.Service, n.ID) {
			continue
		}
		since := later(at(f.Service.Meta.CreatedAt), at(n.Meta.UpdatedAt))
		f.Stuck = append(f.Stuck, &Stuck{
			Service: f.Service, State: stateNone, Slots: 1, Since: since,
			Overdue: since.Add(p.patience.threshold(f.Service, nil, stateNone)),
		})
	}
}

// keptOnPaused counts the paused nodes where a global service keeps a task that it would not get anew
// (manager/orchestrator/global.Orchestrator.reconcileServices).
func (p *Pass) keptOnPaused(slots map[slotKey][]*api.Task) int {
	kept := 0
	for key, tasks := range slots {
		n := p.Cluster.Node(key.node)
		if n != nil && n.Spec.Availability == api.NodeAvailabilityPause && slices.ContainsFunc(tasks, isLive) {
			kept++
		}
	}
	return kept
}

// wanted is how many tasks the service should have: of a global one that fits no node, one for each active node.
func (p *Pass) wanted(s *api.Service, slots map[slotKey][]*api.Task) int {
	switch mode := s.Spec.Mode.(type) {
	case *api.ServiceSpec_Replicated:
		return int(min(mode.Replicated.Replicas, math.MaxInt32))
	case *api.ServiceSpec_ReplicatedJob:
		return int(min(mode.ReplicatedJob.TotalCompletions, math.MaxInt32))
	}
	wanted, active := p.keptOnPaused(slots), 0
	for _, n := range p.Cluster.Nodes() {
		if n.Spec.Availability == api.NodeAvailabilityActive {
			active++
		}
		if p.runsGlobal(s, n.ID) {
			wanted++
		}
	}
	if wanted == 0 {
		return active
	}
	return wanted
}

// runsGlobal tells whether a global service gets a task on the node; none where the node is gone.
func (p *Pass) runsGlobal(s *api.Service, nodeID string) bool {
	n := p.Cluster.Node(nodeID)
	return n != nil && filters.RunsGlobal(s, n.Node)
}

// groupBySlot groups the tasks that count, oldest first: of a job only those of its current run.
func groupBySlot(s *api.Service, tasks []*api.Task) map[slotKey][]*api.Task {
	slots := map[slotKey][]*api.Task{}
	for _, t := range tasks {
		if isJob(s) && s.JobStatus != nil && t.JobIteration != nil && t.JobIteration.Index != s.JobStatus.JobIteration.Index {
			continue
		}
		key := slotKey{slot: t.Slot}
		if isGlobal(s) {
			key = slotKey{node: t.NodeID}
		}
		slots[key] = append(slots[key], t)
	}
	for _, tasks := range slots {
		slices.SortStableFunc(tasks, func(a, b *api.Task) int { return created(a).Compare(created(b)) })
	}
	return slots
}

func sortedSlots(slots map[slotKey][]*api.Task) []slotKey {
	keys := make([]slotKey, 0, len(slots))
	for key := range slots {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b slotKey) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.node, b.node))
	})
	return keys
}

// isLive tells whether the orchestrator wants the task to run, or to run to its end.
func isLive(t *api.Task) bool {
	return IsToRun(t) || isDoneJob(t)
}

// IsToRun tells whether a task waits, starts or runs, and is not to stop: only then no other one takes its slot
// (manager/orchestrator/restart.Supervisor.UpdatableTasksInSlot for what is desired, handleTaskChange of the orchestrators
// for the state).
func IsToRun(t *api.Task) bool {
	return t.DesiredState <= api.TaskStateCompleted && t.Status.State <= api.TaskStateRunning
}

func isDoneJob(t *api.Task) bool {
	return t.DesiredState == api.TaskStateCompleted && t.Status.State == api.TaskStateCompleted
}

func asDesired(s *api.Service, t *api.Task) bool {
	return t.Status.State == api.TaskStateRunning || isJob(s) && t.Status.State == api.TaskStateCompleted
}

// isDone tells whether a task that ended is as desired: it is complete and its restart policy asks for no more.
func isDone(s *api.Service, t *api.Task) bool {
	if t.Status.State != api.TaskStateCompleted {
		return false
	}
	return isJob(s) || t.Spec.Restart != nil && t.Spec.Restart.Condition != api.RestartOnAny
}

func stateOf(t *api.Task) string { return strings.ToLower(t.Status.State.String()) }

func isJob(s *api.Service) bool {
	return s.Spec.GetReplicatedJob() != nil || s.Spec.GetGlobalJob() != nil
}

func isGlobal(s *api.Service) bool {
	return s.Spec.GetGlobal() != nil || s.Spec.GetGlobalJob() != nil
}

func desiredOf(t *api.Task) string { return strings.ToLower(t.DesiredState.String()) }
