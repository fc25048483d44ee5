package remedy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Bounds of which moves are tried; where one of them ended the search and no move was found, that is said.
const (
	// tries is how many moves the scheduler is asked about at most.
	tries = 6
	// weighed is how many are looked at for that at most.
	weighed = 100
)

// moving is the moves that may free a node, the smallest first.
type moving struct {
	moves []proposal
	// less are services of which a part of the tasks on a node would do.
	less []holding
	// more tells that not all were looked at.
	more bool
}

// moves has the tasks of other services leave a node, so that the waiting have room there: the fewest tasks first, of
// equally many those of the fewest services, then those that hold least. A constraint that is added for that restarts only
// the tasks that do not meet it (manager/orchestrator.IsTaskDirty), and none when it is taken off again. No command of
// Docker's moves one of several tasks of a service on a node: they meet a constraint all or none, a limit of replicas or a
// preference for some nodes restarts none, another change of the spec restarts all, and to scale ends one for good.
func (s *subject) moves() []proposal {
	if s.moving != nil {
		return s.moving.moves
	}
	s.moving = &moving{}
	sets := s.freeing()
	movable, offered := map[string]*mover{}, map[string]bool{} // by service; by command
	for i, set := range sets {
		if i == weighed || len(s.moving.moves) == tries {
			s.moving.more = true
			break
		}
		if !slices.ContainsFunc(set.holdings, func(h holding) bool { return s.mover(movable, h.service).others(h.node) == 0 }) {
			s.moving.add(set, movable, offered)
		}
	}
	return s.moving.moves
}

// add offers a move once.
func (m *moving) add(set freeing, movable map[string]*mover, offered map[string]bool) {
	slices.SortStableFunc(set.holdings, func(a, b holding) int { // those first that fewest nodes take
		return cmp.Or(cmp.Compare(movable[a.service.ID].others(a.node), movable[b.service.ID].others(b.node)), byName(a, b))
	})
	p := leave(set.holdings)
	if offered[p.key()] {
		return
	}
	offered[p.key()] = true
	m.moves = append(m.moves, p)
	if one := set.holdings[0]; len(set.holdings) == 1 && one.least < one.tasks {
		m.less = append(m.less, one)
	}
}

// mover is what is known of a service whose tasks are to move.
type mover struct {
	takes []*filters.Node // one more of its tasks; none where an update would do more than it is told to
}

func (s *subject) mover(known map[string]*mover, service *api.Service) *mover {
	m := known[service.ID]
	if m != nil {
		return m
	}
	m = &mover{}
	known[service.ID] = m
	if s.isSettled(service) {
		m.takes, _ = divide(s.cluster, []*api.Task{NewDraft(s.state, nil).made(service, &api.Task{})})
	}
	return m
}

// others is how many nodes besides one take a task of the service; none where it cannot be told to leave.
func (m *mover) others(n *filters.Node) int {
	number := len(m.takes)
	if slices.ContainsFunc(m.takes, func(other *filters.Node) bool { return other.ID == n.ID }) {
		number--
	}
	return number
}

// isSettled tells whether an update of the service does nothing but what it is told to: none of its own is under way, paused
// or rolled back, which would go on with it, and all tasks are as the spec has them. One that waits would be made anew too,
// and keep the update waiting.
func (s *subject) isSettled(service *api.Service) bool {
	if u := service.UpdateStatus; u != nil && u.State != api.UpdateStatus_COMPLETED {
		return false
	}
	draft, compared := NewDraft(s.state, nil), defaults.InterpolateService(&service.Spec)
	for t := range s.state.TasksOf(service.ID) {
		if t.DesiredState > api.TaskStateCompleted || t.Status.State > api.TaskStateRunning {
			continue
		}
		if t.Status.State <= api.TaskStatePending || draft.isDirty(service, compared, t) {
			return false
		}
	}
	return true
}

// leave has all tasks of services leave their node, one service after the other: while its constraint is there none comes back.
func leave(holdings []holding) proposal {
	away := "node.id!=" + holdings[0].node.ID
	var p proposal
	var takeOff []command
	var names []string
	for _, h := range holdings {
		name := h.service.Spec.Annotations.Name
		names = append(names, name)
		p.commands = append(p.commands, command{serviceUpdate, []string{flag("--constraint-add", away)}, name})
		takeOff = append(takeOff, command{serviceUpdate, []string{flag("--constraint-rm", away)}, name})
	}
	p.commands = append(p.commands, takeOff...)
	p.change = func(d *Draft) {
		for _, h := range holdings {
			h.leave(d)
			d.Move(h.service.ID)
		}
	}
	last := "the second command waits for the first and moves nothing"
	if n := len(holdings); n > 1 {
		last = fmt.Sprintf("each command waits for the one before, and the last %d move nothing", n)
	}
	p.note = fmt.Sprintf("only the tasks of %s on %s restart; %s", strings.Join(names, ", "), holdings[0].node.Name, last)
	p.instead = "move"
	return p
}

// leave forbids the service its node in a copy.
func (h holding) leave(d *Draft) {
	d.Update(h.service.ID, func(spec *api.ServiceSpec) {
		if spec.Task.Placement == nil {
			spec.Task.Placement = &api.Placement{}
		}
		spec.Task.Placement.Constraints = append(slices.Clone(spec.Task.Placement.Constraints), "node.id!="+h.node.ID)
	})
}

// noMove says of a fragmented resource that no move was found to free a node, and which one would that no command does.
func (s *search) noMove(ctx context.Context) error {
	moving := s.subject.moving
	if s.subject.Shape != analyzer.Fragmented || moving == nil ||
		slices.ContainsFunc(moving.moves, func(p proposal) bool { return s.tried[p.key()] != nil }) {
		return nil
	}
	note := "no move of running tasks that was tried frees a node"
	if moving.more {
		note += ", and not all were tried"
	}
	for _, h := range moving.less {
		text, err := s.trial.less(ctx, h)
		if err != nil {
			return err
		}
		if text != "" {
			note += "; " + text
			break
		}
	}
	s.found.Notes = append(s.found.Notes, note)
	return nil
}

// less says that fewer tasks of a service than it has on a node would make room if they were moved; "" where they would not.
func (t *trial) less(ctx context.Context, h holding) (string, error) {
	draft := NewDraft(t.state, t.waiting)
	draft.cluster = t.cluster
	h.leave(draft)
	draft.MoveSome(h.service.ID, h.least)
	outcome, err := draft.Place(ctx)
	if err != nil || len(outcome.On) == 0 {
		return "", err
	}
	to := map[string]bool{}
	for _, m := range outcome.Moves {
		to[m.To] = true
	}
	return fmt.Sprintf("%d of the %d tasks of %s moved from %s to %s would, which Swarm does not do by itself, and a constraint moves all of them",
		h.least, h.tasks, h.service.Spec.Annotations.Name, h.node.Name, strings.Join(nodeNames(t.cluster, to), ", ")), nil
}
