package exporter

import (
	"github.com/moby/swarmkit/v2/api"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/swarmdiag/swarmdiag/collector"
)

// latency measures how long the scheduler takes: from a task's creation until it is assigned to a node.
type latency struct {
	prometheus.Histogram
	before *collector.State
	// seen is the highest version of a task so far: what has none higher did not change.
	seen uint64
}

func newLatency() *latency {
	return &latency{Histogram: prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "swarmdiag",
		Name:      "task_schedule_latency_seconds",
		Help: "How long tasks waited from their creation until they were assigned to a node. Tasks that were assigned " +
			"before the agent started are not in it.",
		Buckets: []float64{0.1, 0.5, 1, 2.5, 5, 10, 60, 600},
	})}
}

// observe counts every task that was assigned since the state before, once. The time is that of its status when it is first
// seen assigned: a state that passed between two looks makes it later by no more than the time between them.
func (l *latency) observe(state *collector.State) {
	if state.AsOf.IsZero() {
		return // not whole yet: it would make all tasks new
	}
	highest := l.seen
	for t := range state.Tasks() {
		version := t.Meta.Version.Index
		if version <= l.seen {
			continue
		}
		highest = max(highest, version)
		if l.before == nil || !wasAssigned(t) || wasAssigned(l.before.Task(t.ID)) {
			continue
		}
		created, assigned := stamp(t.Meta.CreatedAt), appliedAt(t)
		if !created.IsZero() && !assigned.IsZero() {
			l.Observe(max(0, assigned.Sub(created).Seconds()))
		}
	}
	l.before, l.seen = state, highest
}

// wasAssigned tells whether the scheduler is known to have given the task to a node. A task that is shut down, removed or
// orphaned may have ended before: the node of a task of a global service is set from the start.
func wasAssigned(t *api.Task) bool {
	if t == nil || t.NodeID == "" {
		return false
	}
	switch t.Status.State {
	case api.TaskStateCompleted, api.TaskStateFailed, api.TaskStateRejected:
		return true
	}
	return t.Status.State >= api.TaskStateAssigned && t.Status.State <= api.TaskStateRunning
}
