package whatif

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// conclude counts what runs in the end, and asks the analyzer about what waits.
func (r *rehearsal) conclude(now time.Time, concerned map[string]bool, change Change, updates map[string]*Update) {
	result := analyzer.Analyze(r.state, now, analyzer.Patience{ProvenAtOnce: true})
	diagnoses := map[string][]analyzer.Diagnosis{}
	for _, d := range slices.Concat(result.Diagnoses, result.Ignored) {
		if d.State == pending || d.State == none {
			d.Check = []analyzer.Check{} // there is nothing to look at yet
			diagnoses[d.Service] = append(diagnoses[d.Service], d)
		}
	}
	r.out.Diagnoses, r.out.Services, r.out.Unchecked = []analyzer.Diagnosis{}, []Service{}, change.Unchecked
	r.out.PlacesAll = true
	for _, id := range slices.Sorted(maps.Keys(concerned)) {
		s := r.serviceOutcome(id, change, updates[id])
		if s == nil || !slices.ContainsFunc(change.Services, func(c ServiceChange) bool { return c.ID == id }) && s.isUntouched() {
			continue
		}
		for _, d := range diagnoses[s.Name] {
			r.out.Diagnoses = append(r.out.Diagnoses, d)
			if s.Update.Stops() {
				s.Update.Needs = append(s.Update.Needs, r.needs(s, &d)...)
			}
		}
		r.out.PlacesAll = r.out.PlacesAll && s.Waiting == 0 && s.Running >= s.Wanted && !s.Update.Stops() && (s.Update == nil || !s.Update.Capped)
		r.out.Services = append(r.out.Services, *s)
	}
	slices.SortFunc(r.out.Services, func(a, b Service) int { return cmp.Compare(a.Name, b.Name) })
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

// serviceOutcome counts the tasks of a service.
func (r *rehearsal) serviceOutcome(id string, change Change, update *Update) *Service {
	now := r.state.Service(id)
	s := &Service{Placed: r.placed[id], On: []NodeCount{}, Update: update, Removed: now == nil}
	if now == nil {
		if now = r.before.Service(id); now == nil {
			return nil
		}
	} else {
		s.Wanted = r.wanted(now)
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
		case isLive(t) && t.Status.State == api.TaskStatePending:
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

func (r *rehearsal) wanted(s *api.Service) int {
	if s.Spec.GetGlobal() == nil && s.Spec.GetGlobalJob() == nil {
		return wantedReplicas(s)
	}
	nodes := 0
	for n := range r.state.Nodes() {
		if filters.RunsGlobal(s, n) {
			nodes++
		}
	}
	return nodes
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
