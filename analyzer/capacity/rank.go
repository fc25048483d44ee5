package capacity

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

// mostProven is how many changes are tried on the scheduler: the most promising ones.
const mostProven = 16

// Change is one change of the cluster, with what swarmkit's scheduler places of all that is stuck once it is done. Where no copy
// shows that Command does it, Note says so.
type Change struct {
	// What is the change in few words: "activate node-3".
	What string `json:"what"`
	// Command does it, for a shell, on the node At where that is not a manager. A new node has none.
	Command string `json:"command,omitempty"`
	At      string `json:"at,omitempty"`
	// Services and Tasks are what it places of what nothing places now.
	Services int `json:"services"`
	Tasks    int `json:"tasks"`
	// Note is what to know before.
	Note string `json:"note,omitempty"`
}

// Ranking is what would help most, the change that places something of most services first.
type Ranking struct {
	// Services and Tasks count what is stuck in all.
	Services int      `json:"services"`
	Tasks    int      `json:"tasks"`
	Changes  []Change `json:"changes"`
	// Ended tells that the time was up before all changes had been tried.
	Ended bool `json:"ended,omitempty"`
}

// Rank tries single changes of the cluster on all that the diagnoses say is stuck. Changes by which a task that runs would
// lose its place are left out. An error means that ctx was cancelled or the state could not be copied.
func Rank(ctx context.Context, state *collector.State, diagnoses []analyzer.Diagnosis) (Ranking, error) {
	return newStuck(state, diagnoses).rank(ctx)
}

func (s *stuck) rank(ctx context.Context) (Ranking, error) {
	ranking := s.unranked()
	err := s.prove(ctx, &ranking)
	ranking.Ended = outOfTime(err)
	if err != nil && !ranking.Ended {
		return Ranking{}, fmt.Errorf("rank what would help: %w", err)
	}
	slices.SortStableFunc(ranking.Changes, func(a, b Change) int { return cmp.Or(b.Services-a.Services, b.Tasks-a.Tasks) })
	return ranking, nil
}

func (s *stuck) unranked() Ranking {
	return Ranking{Services: len(s.services), Tasks: len(s.tasks), Changes: []Change{}}
}

// prove tries the promising changes on the scheduler, and adds to the ranking those that place something.
func (s *stuck) prove(ctx context.Context, ranking *Ranking) error {
	before, err := s.unchanged(ctx)
	if err != nil || len(s.services) == 0 {
		return err
	}
	promising, err := s.promising(ctx)
	if err != nil {
		return err
	}
	for _, c := range promising {
		after, err := s.place(ctx, c.ends, c.node)
		if err != nil {
			return err
		}
		if c.change.Services, c.change.Tasks = after.beyond(before); c.change.Tasks > 0 {
			ranking.Changes = append(ranking.Changes, c.change)
		}
	}
	return nil
}

// promising judges all candidates by the filters alone, and returns those whose node takes most.
func (s *stuck) promising(ctx context.Context) ([]*candidate, error) {
	var all []*candidate
	for _, c := range s.candidates() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !c.isNew && s.evicts(c.node) {
			continue
		}
		if err := s.promise(c); err != nil {
			return nil, err
		}
		if c.services > 0 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return cmp.Or(b.services-a.services, b.tasks-a.tasks) })
	return all[:min(len(all), mostProven)], nil
}

// evicts tells whether a task would have to leave the node once it is so.
func (s *stuck) evicts(n *api.Node) bool {
	draft := remedy.NewDraft(s.state, nil)
	*draft.Node(n.ID) = *n
	return len(draft.Evicted()) > 0
}

func (s *stuck) promise(c *candidate) error {
	state, err := with(s.state, c.ends, []*api.Node{c.node})
	if err != nil {
		return err
	}
	changed := s.cluster.Renew(state, map[string]bool{c.node.ID: true}, filters.NoneGone)
	services := map[string]bool{}
	for _, w := range s.waiting {
		row, judged := changed.JudgeOn(w.Task(), c.node.ID)
		if !judged || !row.Passes() || w.Task().ID == "" && !filters.RunsGlobal(w.Service, c.node) {
			continue
		}
		services[w.Task().ServiceID] = true
		c.tasks += len(w.Tasks)
	}
	c.services = len(services)
	return nil
}
