package whatif

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// conclude counts what runs in the end, and asks the analyzer about what waits.
func (r *rehearsal) conclude(ctx context.Context, now time.Time, concerned map[string]bool, change Change, updates map[string]*Update) {
	diagnoses := r.diagnose(now)
	r.out.About, r.out.Diagnoses, r.out.Services, r.out.StillWaiting = []string{}, []analyzer.Diagnosis{}, []Service{}, []Waiters{}
	r.out.PlacesAll = true
	for _, id := range slices.Sorted(maps.Keys(concerned)) {
		s := r.serviceOutcome(ctx, id, updates[id])
		changed := slices.ContainsFunc(change.Services, func(c ServiceChange) bool { return c.ID == id })
		if s == nil || !changed && s.isUntouched() {
			continue
		}
		if changed {
			r.out.About = append(r.out.About, s.Name)
		}
		s.Nowhere = r.isNowhere(id, s, changed)
		r.explain(s, diagnoses[s.Name])
		r.out.PlacesAll = r.out.PlacesAll && s.isPlaced()
		r.out.Services = append(r.out.Services, *s)
	}
	slices.Sort(r.out.About)
	slices.SortFunc(r.out.Services, func(a, b Service) int { return cmp.Compare(a.Name, b.Name) })
	r.concludeOthers(ctx, diagnoses)
	r.noteStranded(concerned)
	r.out.Unchecked = slices.Concat(change.Unchecked, slices.Sorted(maps.Keys(r.notes)))
}

// diagnose asks the analyzer about what waits in the end, by the names of the services.
func (r *rehearsal) diagnose(now time.Time) map[string][]analyzer.Diagnosis {
	result := analyzer.Analyze(r.state, now, analyzer.Patience{ProvenAtOnce: true})
	diagnoses := map[string][]analyzer.Diagnosis{}
	for _, d := range slices.Concat(result.Diagnoses, result.Ignored) {
		if d.State == pending || d.State == none {
			d.Check = []analyzer.Check{} // there is nothing to look at yet
			diagnoses[d.Service] = append(diagnoses[d.Service], d)
		}
	}
	return diagnoses
}

// explain says why what is left waiting of a service waits.
func (r *rehearsal) explain(s *Service, diagnoses []analyzer.Diagnosis) {
	for _, d := range diagnoses {
		if d.State == none && s.Complete+s.Lost > 0 {
			continue // these have no task, and get none
		}
		r.out.Diagnoses = append(r.out.Diagnoses, d)
		if s.Update.Stops() {
			s.Update.Needs = append(s.Update.Needs, r.needs(s, &d)...)
		}
	}
}

// The states of tasks, as a diagnosis spells them, for which a change of specs or nodes is responsible.
const (
	pending = "pending"
	none    = "none"
)

// isUntouched tells that a service runs where and as it did.
func (s *Service) isUntouched() bool {
	return s.Placed == 0 && s.Waiting == 0 && !s.Removed && !slices.ContainsFunc(s.On, func(c NodeCount) bool { return c.Tasks != c.Before })
}

// isPlaced tells that nothing of a service is missing in the end.
func (s *Service) isPlaced() bool {
	return s.Waiting == 0 && s.Running+s.Complete >= s.Wanted && s.Ends == 0 && s.Unaddressed == 0 && !s.Nowhere &&
		!s.Update.Stops() && (s.Update == nil || !s.Update.Capped)
}

// isNowhere tells of a global service that was changed, or that ran, that no node is left to it.
func (r *rehearsal) isNowhere(id string, s *Service, changed bool) bool {
	now := r.state.Service(id)
	ran := slices.ContainsFunc(s.On, func(c NodeCount) bool { return c.Before > 0 })
	return now != nil && isGlobal(now) && s.Wanted == 0 && s.Complete == 0 && (changed || ran)
}

// serviceOutcome counts the tasks of a service.
func (r *rehearsal) serviceOutcome(ctx context.Context, id string, update *Update) *Service {
	now := r.state.Service(id)
	s := &Service{Placed: r.placed[id], On: []NodeCount{}, Update: update, Removed: now == nil}
	if now == nil {
		if now = r.before.Service(id); now == nil {
			return nil
		}
	} else {
		s.Wanted = r.wanted(now)
		s.Complete, s.Lost = r.ended(ctx, now)
		s.Ends, s.Unaddressed = r.excluded[id], r.addresses(now)
	}
	s.Name, s.New = now.Spec.Annotations.Name, r.before.Service(id) == nil
	after, before := map[string]int{}, map[string]int{}
	for t := range r.before.TasksOf(id) {
		if isHere(t) {
			before[t.NodeID]++
		}
	}
	for t := range r.state.TasksOf(id) {
		switch {
		case isHere(t):
			after[t.NodeID]++
			s.Running++
		case waits(t):
			s.Waiting++
			s.DockerWouldSay = cmp.Or(s.DockerWouldSay, t.Status.Err)
		}
	}
	for _, n := range filters.NewCluster(r.state).Nodes() {
		if after[n.ID]+before[n.ID] > 0 {
			s.On = append(s.On, NodeCount{Node: n.Name, Tasks: after[n.ID], Before: before[n.ID]})
		}
	}
	return s
}

// wanted is how many tasks are to run: of a job those that are not complete, of a global service also the one that a paused
// node keeps (manager/orchestrator/global.Orchestrator.reconcileServices). Jobs do not look at a node that has theirs.
func (r *rehearsal) wanted(s *api.Service) int {
	here, complete := map[string]bool{}, map[slotKey]bool{}
	for t := range r.state.TasksOf(s.ID) {
		here[t.NodeID] = here[t.NodeID] || analyzer.IsToRun(t)
		if isJob(s) && isOfThisRun(s, t) && t.Status.State == api.TaskStateCompleted {
			complete[keyOf(s, t)] = true
		}
	}
	if !isGlobal(s) {
		wanted := wantedReplicas(s)
		if job := s.Spec.GetReplicatedJob(); job != nil {
			wanted = min(wanted, max(0, int(job.TotalCompletions)-len(complete)))
		}
		return wanted
	}
	wanted := 0
	for n := range r.state.Nodes() {
		switch {
		case complete[slotKey{node: n.ID}]:
		case filters.RunsGlobal(s, n), here[n.ID] && (isJob(s) || n.Spec.Availability == api.NodeAvailabilityPause):
			wanted++
		}
	}
	return wanted
}

func isOfThisRun(s *api.Service, t *api.Task) bool {
	return s.JobStatus == nil || t.JobIteration == nil || t.JobIteration.Index == s.JobStatus.JobIteration.Index
}

// ended counts the slots whose last task ended and is followed by none.
func (r *rehearsal) ended(ctx context.Context, s *api.Service) (complete, lost int) {
	_, spent := r.slots(ctx, s)
	if isJob(s) && !r.updated[s.ID] {
		for _, t := range r.evicted {
			if t.ServiceID == s.ID && r.last(ctx, s, []*api.Task{t}) != nil {
				lost++
			}
		}
	}
	for _, t := range spent {
		switch {
		case isGlobal(s) && !filters.RunsGlobal(s, r.state.Node(t.NodeID)):
		case t.Status.State == api.TaskStateCompleted:
			complete++
		default:
			lost++
		}
	}
	return complete, lost
}

// names are the nodes' names, each once.
func (r *rehearsal) names(ids []string) []string {
	names := []string{}
	for _, n := range filters.NewCluster(r.state).Nodes() {
		if slices.Contains(ids, n.ID) {
			names = append(names, n.Name)
		}
	}
	return names
}
