package remedy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Proposal is a change that may place what a diagnosis is about.
type Proposal struct {
	// Command does it, for a shell; At is the node it runs on where that is not a manager.
	Command, At string
	// Change does to a copy of the cluster what the command does; nil where no copy can show that it works.
	Change  func(*Draft)
	Compose *analyzer.Compose
	Note    string
}

// trial is one diagnosis whose proposals are tried.
type trial struct {
	state   *collector.State
	subject string // the service's id
	waiting []*api.Task
}

func newTrial(state *collector.State, d *analyzer.Diagnosis) *trial {
	t := &trial{state: state, subject: d.Subject.ID}
	for _, w := range d.Waiting {
		for _, task := range w.Tasks {
			if task.ID != "" { // what no-eligible-node judges does not exist
				t.waiting = append(t.waiting, task)
			}
		}
	}
	return t
}

// prove applies a proposal to a copy, and tells what swarmkit's scheduler makes of it.
func (t *trial) prove(ctx context.Context, p Proposal) (analyzer.Remedy, error) {
	r := analyzer.Remedy{Command: p.Command, At: p.At, Risk: analyzer.NoRisk, Compose: p.Compose, Note: p.Note}
	if p.Change == nil {
		return r, nil
	}
	draft := NewDraft(t.state, t.waiting)
	p.Change(draft)
	state, err := draft.State()
	if err != nil {
		return r, err
	}
	draft.spread(t.subject, state)
	placed, err := Place(ctx, state, draft.Waiting)
	if err != nil {
		return r, err
	}
	r.Places, r.On = len(placed.On), nodeNames(state, placed.On)
	r.Verified = r.Places > 0
	replaced := draft.Replaced(t.subject)
	r.Restarts = len(replaced)
	if err := t.disturbs(ctx, &r, draft, state, replaced); err != nil {
		return r, err
	}
	return r, nil
}

// disturbs tells what the change does to tasks that run: which restart, whether these find a place again, and which have
// to leave their node.
func (t *trial) disturbs(ctx context.Context, r *analyzer.Remedy, draft *Draft, state *collector.State, replaced []*api.Task) error {
	if len(replaced) > 0 {
		r.Risk = analyzer.Restarts
		if s := state.Service(t.subject); len(replaced) <= atOnce(s) && !isStartFirst(s) {
			r.Risk = analyzer.Outage
		}
		again := NewDraft(state, draft.Waiting)
		for _, task := range replaced {
			again.gone = append(again.gone, task)
			again.Waiting = append(again.Waiting, draft.made(state.Service(t.subject), task))
		}
		after, err := again.State()
		if err != nil {
			return err
		}
		placed, err := Place(ctx, after, again.Waiting)
		if err != nil {
			return err
		}
		if lost := len(draft.Waiting) - r.Places + len(replaced) - (len(again.Waiting) - len(placed.Err)); lost > len(draft.Waiting)-r.Places {
			r.Risk = analyzer.Outage
			r.Note = join(r.Note, "after the update not every task that runs now would have a place")
		}
	}
	if evicted := draft.Evicted(); len(evicted) > 0 {
		r.Risk = analyzer.Outage
		r.Restarts += len(evicted)
		r.Note = join(r.Note, fmt.Sprintf("%d tasks have to leave their node: %s", len(evicted), strings.Join(serviceNames(state, evicted), ", ")))
	}
	return nil
}

// atOnce is how many tasks the service's update replaces at a time; one where nothing is set.
func atOnce(s *api.Service) int {
	if s == nil || s.Spec.Update == nil {
		return 1
	}
	if s.Spec.Update.Parallelism == 0 {
		return int(^uint(0) >> 1)
	}
	return int(s.Spec.Update.Parallelism)
}

func isStartFirst(s *api.Service) bool {
	return s != nil && s.Spec.Update != nil && s.Spec.Update.Order == api.UpdateConfig_START_FIRST
}

func nodeNames(state *collector.State, on map[string]string) []string {
	var names []string
	for _, id := range on {
		name := id
		if n := state.Node(id); n != nil && n.Description != nil && n.Description.Hostname != "" {
			name = n.Description.Hostname
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// order puts what is proven first, then what disturbs less, then what places more.
func order(remedies []analyzer.Remedy) {
	risks := []analyzer.Risk{analyzer.NoRisk, analyzer.Restarts, analyzer.Outage, analyzer.DataRisk}
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
