package remedy

import (
	"context"
	"maps"
	"slices"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// complete tries what places a part together with what stands in the way of the rest then: another reason of other nodes, or
// how much a node has room for, which no reason told of before it was open. A set is kept if it places more than all that was
// found before, and is completed in its turn.
func (s *search) complete(ctx context.Context) error {
	for range mostParts {
		if len(s.parts) == 0 {
			return nil
		}
		s.parts = mostFirst(s.parts)
		members := s.parts[0].members
		s.parts = s.parts[1:]
		sets, err := s.completing(members)
		if err != nil {
			return err
		}
		s.cut = s.cut || len(sets) > further
		for _, set := range sets[:min(len(sets), further)] {
			most := s.best()
			if most >= s.subject.tasks() {
				return nil
			}
			if _, err := s.keepMinimal(ctx, set, most); err != nil {
				return err
			}
		}
	}
	s.cut = s.cut || len(s.parts) > 0
	return nil
}

// completing are the sets of some changes and of what may let the rest be placed once these are done.
func (s *search) completing(members []proposal) (sets [][]proposal, err error) {
	after, err := s.subject.after(s.trial, combine(members))
	if err != nil {
		return nil, err
	}
	var all [][]proposal
	for _, g := range after.groups {
		if len(g.reasons) == 1 {
			for _, p := range after.fixes(g, g.reasons[0]) {
				all = append(all, []proposal{p})
			}
		}
	}
	if amounts := after.amounts(); len(amounts) > 0 {
		s.cut = s.cut || len(amounts) > largestSet-1
		all = append(all, amounts[:min(len(amounts), largestSet-1)])
	}
	for _, more := range all {
		unfit := func(p proposal) bool { return p.change == nil || slices.ContainsFunc(members, p.contradicts) }
		switch set := slices.Concat(members, more); {
		case slices.ContainsFunc(more, unfit):
		case len(set) > largestSet:
			s.cut = true
		default:
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// after is the subject as it is once a change is done and before anything is placed.
func (s *subject) after(t *trial, p proposal) (*subject, error) {
	draft := NewDraft(t.state, t.waiting)
	p.change(draft)
	state, err := draft.State()
	if err != nil {
		return nil, err
	}
	w := *s.Waiting[0]
	w.Tasks = draft.Waiting
	w.Rows = t.cluster.Renew(state, draft.touched(), filters.NoneGone).Judge(w.Task())
	w.Wanted, _, _ = filters.Wanted(w.Rows)
	d := *s.Diagnosis
	d.Waiting = []*analyzer.Waiting{&w}
	after := newSubject(s.state, s.cluster, &d)
	after.service, after.former, after.stale, after.loosen, after.untried = s.service, s.former, s.stale, s.loosen, s.untried
	return after, nil
}

// amounts are the proposals for all of which there is not enough room on the nodes that nothing but room refuses.
func (s *subject) amounts() []proposal {
	open := &group{waiting: s.Waiting[0]}
	for _, g := range s.groups {
		isRoom := func(r filters.Reason) bool { return r.Filter == filters.Resources || r.Filter == filters.MaxReplicas }
		if !slices.ContainsFunc(g.reasons, func(r filters.Reason) bool { return !isRoom(r) }) {
			open.rows = append(open.rows, g.rows...)
		}
	}
	asked := filters.Asked(open.waiting.Task())
	for _, what := range slices.Sorted(maps.Keys(asked)) {
		if whole(what, asked[what]) > 0 {
			open.reasons = append(open.reasons, filters.Reason{Filter: filters.Resources, What: what})
		}
	}
	if limit := open.waiting.Task().Spec.Placement; limit != nil && limit.MaxReplicas > 0 {
		open.reasons = append(open.reasons, filters.Reason{Filter: filters.MaxReplicas})
	}
	short := slices.DeleteFunc(slices.Clone(open.reasons), func(r filters.Reason) bool {
		return r.Filter == filters.Resources && s.room(open, r.What, whole(r.What, asked[r.What])) >= s.tasks()
	})
	open.reasons = short
	var all []proposal
	for _, r := range short {
		all = append(all, s.fixes(open, r)...)
	}
	return all
}
