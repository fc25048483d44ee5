package collector

import (
	"github.com/moby/swarmkit/v2/api"
)

// Changes is what differs between two states of one store.
type Changes struct {
	// Nodes are the ids of nodes that are others now, TasksOn those of nodes with a task that is.
	Nodes, TasksOn map[string]bool
	// Services are the ids of services that are others now, or have a task that is.
	Services map[string]bool
	// Volumes tells that a cluster volume is another one now.
	Volumes bool
}

// mostChanges is how many changes a store remembers.
const mostChanges = 1 << 14

// change is one object that was put or removed.
type change struct {
	node, taskOn, service string // ids; empty where not concerned
	volume                bool
}

// changesOf lists what the object touches, as it was or as it is.
func changesOf(object any) change {
	switch o := object.(type) {
	case *api.Node:
		return change{node: o.ID}
	case *api.Service:
		return change{service: o.ID}
	case *api.Task:
		return change{taskOn: o.NodeID, service: o.ServiceID}
	case *api.Volume:
		return change{volume: true}
	}
	return change{}
}

// history is the changes of a store up to a moment. Its slice is only ever appended to, so that states can share it.
type history struct {
	store   *Store
	dropped int // how many changes came before those
	changes []change
}

// add returns the history with more changes; where there are too many, the older ones are forgotten.
func (h history) add(changes []change) history {
	if len(changes) > mostChanges/2 {
		h.dropped += len(h.changes) + len(changes)
		h.changes = nil
		return h
	}
	if drop := len(h.changes) - mostChanges/2; drop > 0 && len(h.changes)+len(changes) > mostChanges {
		h.dropped += drop
		h.changes = append(make([]change, 0, mostChanges), h.changes[drop:]...)
	}
	h.changes = append(h.changes, changes...)
	return h
}

// ChangedSince tells what changed since an earlier state. It is not known where that is of another store, or so old that
// the changes are forgotten.
func (s *State) ChangedSince(earlier *State) (changes Changes, known bool) {
	if earlier == nil || s.history.store == nil || earlier.history.store != s.history.store {
		return Changes{}, false
	}
	from := earlier.history.dropped + len(earlier.history.changes) - s.history.dropped
	if from < 0 || from > len(s.history.changes) {
		return Changes{}, false
	}
	changes = Changes{Nodes: map[string]bool{}, TasksOn: map[string]bool{}, Services: map[string]bool{}}
	for _, c := range s.history.changes[from:] {
		note(changes.Nodes, c.node)
		note(changes.TasksOn, c.taskOn)
		note(changes.Services, c.service)
		changes.Volumes = changes.Volumes || c.volume
	}
	return changes, true
}

func note(set map[string]bool, id string) {
	if id != "" {
		set[id] = true
	}
}
