package whatif

import (
	"context"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// mostSteps bounds how far an update is followed.
const mostSteps = 200

// roll goes through an update as manager/orchestrator/update.Updater does: as many workers as its parallelism, each with
// one slot until the new task runs. It ends where none is left to do, or where every worker waits for a task that no node
// takes. What waits is in the state, as it would be.
func (r *rehearsal) roll(ctx context.Context, p plan) (*Update, error) {
	if len(p.turns) == 0 {
		return nil, nil
	}
	startFirst := analyzer.IsStartFirst(p.service)
	u := &Update{Order: "stop-first", Parallelism: analyzer.Parallelism(p.service, len(p.turns)), Replaces: len(p.turns)}
	if startFirst {
		u.Order = "start-first"
	}
	left, busy, freed := p.turns, []turn(nil), false
	for len(left) > 0 && len(busy) < u.Parallelism || len(busy) > 0 && freed {
		if len(u.Steps) == mostSteps {
			u.Capped = true
			return u, nil
		}
		batch := left[:min(u.Parallelism-len(busy), len(left))]
		left = left[len(batch):]
		if err := r.end(olds(batch, !startFirst)...); err != nil {
			return nil, err
		}
		busy = slices.Concat(busy, batch)
		waiting, on, err := r.placeOwn(ctx, freshOf(busy))
		if err != nil {
			return nil, err
		}
		if err := r.placeOthers(ctx); err != nil {
			return nil, err
		}
		isWaiting := func(t turn) bool {
			return slices.ContainsFunc(waiting, func(w *api.Task) bool { return w.ID == t.fresh.ID })
		}
		done := slices.DeleteFunc(slices.Clone(busy), isWaiting)
		busy = slices.DeleteFunc(busy, func(t turn) bool { return !isWaiting(t) })
		if err := r.end(olds(done, startFirst)...); err != nil {
			return nil, err
		}
		freed = startFirst && len(done) > 0
		u.Done += len(done)
		u.Steps = append(u.Steps, Step{Replaces: len(batch), Placed: len(done), On: r.names(on), Left: len(left) + len(busy)})
	}
	if first, last := p.turns[0], p.turns[len(p.turns)-1]; u.Stops() && first.waits() && !last.waits() {
		r.note("in which order Swarm takes the slots: where those of tasks that wait are not the first, the update may get further")
	}
	return u, r.placeOthers(ctx)
}

// olds are the tasks that stop now: those that wait hold nothing, and are gone as soon as another takes their slot.
func olds(turns []turn, running bool) []*api.Task {
	var tasks []*api.Task
	for _, t := range turns {
		if running || t.waits() {
			tasks = append(tasks, t.old)
		}
	}
	return tasks
}

func freshOf(turns []turn) []*api.Task {
	tasks := make([]*api.Task, len(turns))
	for i, t := range turns {
		tasks[i] = t.fresh
	}
	return tasks
}
