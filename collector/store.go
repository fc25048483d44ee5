package collector

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/moby/swarmkit/v2/api"
)

// Store is filled by one source and read through snapshots. It keeps only what the allow-list lets through.
type Store struct {
	db *memdb.MemDB

	mu      sync.Mutex // protects what follows, and keeps writers apart
	about   About
	history history
	changed chan struct{}
	models  models
}

// NewStore returns an empty store.
func NewStore() *Store {
	db, err := memdb.NewMemDB(schema)
	if err != nil {
		panic("collector: " + err.Error()) // the schema is a constant
	}
	s := &Store{db: db, changed: make(chan struct{}), models: models{}}
	s.history.store = s
	return s
}

// Snapshot returns the state as it is now, at the same cost for any size.
func (s *Store) Snapshot() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := newState(s.about, s.db.Snapshot())
	state.history = s.history
	return state
}

// Changed returns a channel that is closed at the next change of an object or of what is known about the source.
// A fresh AsOf or Every alone is no change.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Describe replaces what is known about the source. An AsOf of zero leaves that as it is.
func (s *Store) Describe(about About) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.about
	if about.AsOf.IsZero() {
		about.AsOf = before.AsOf
	}
	s.about = about
	before.AsOf, before.Every = about.AsOf, about.Every
	if !reflect.DeepEqual(before, about) {
		s.tell()
	}
}

// Confirm records that the source agreed with the managers at this time.
func (s *Store) Confirm(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.about.AsOf = at
}

// Put adds or replaces objects: *api.Node, *api.Service, *api.Task, *api.Network or *api.Volume; others are passed over.
// What the allow-list lets through is copied, the rest is never stored. An object that is in the store as it is now is
// no change.
func (s *Store) Put(objects ...any) error {
	return s.write(func(txn *memdb.Txn) ([]change, error) { return insert(txn, s.models.keep(objects)) })
}

// Remove deletes objects by their id; one that is not there is passed over.
func (s *Store) Remove(objects ...any) error {
	return s.write(func(txn *memdb.Txn) ([]change, error) { return remove(txn, objects) })
}

func (s *Store) write(edit func(*memdb.Txn) ([]change, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	txn := s.db.Txn(true)
	defer txn.Abort()
	changes, err := edit(txn)
	if err != nil || len(changes) == 0 {
		return err
	}
	txn.Commit()
	s.history = s.history.add(changes)
	s.tell()
	return nil
}

// tell wakes everybody who waits on Changed; the caller holds mu.
func (s *Store) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// insert stores what is kept of objects.
func insert(txn *memdb.Txn, objects []any) ([]change, error) {
	var changes []change
	tasks := newRegrouping()
	for _, kept := range objects {
		if idOf(kept) == "" {
			return nil, fmt.Errorf("put into %s: it has no id", tableOf(kept))
		}
		before := held(txn, tasks, kept)
		if before == kept || reflect.DeepEqual(before, kept) {
			continue
		}
		if before != nil {
			changes = append(changes, changesOf(before))
		}
		changes = append(changes, changesOf(kept))
		if t, is := kept.(*api.Task); is {
			if before != nil {
				tasks.leave(before.(*api.Task))
			}
			tasks.enter(t)
		} else if err := txn.Insert(tableOf(kept), kept); err != nil {
			return nil, fmt.Errorf("put into %s: %w", tableOf(kept), err)
		}
	}
	return changes, tasks.apply(txn)
}

func remove(txn *memdb.Txn, objects []any) ([]change, error) {
	var changes []change
	tasks := newRegrouping()
	for _, object := range objects {
		before := held(txn, tasks, object)
		if before == nil {
			continue
		}
		changes = append(changes, changesOf(before))
		if t, is := before.(*api.Task); is {
			if err := free(txn, t); err != nil {
				return nil, err
			}
			tasks.leave(t)
		} else if err := txn.Delete(tableOf(object), before); err != nil {
			return nil, fmt.Errorf("remove from %s: %w", tableOf(object), err)
		}
	}
	return changes, tasks.apply(txn)
}

// held is the object with this one's id as the transaction has it by now, or nil.
func held(txn *memdb.Txn, tasks regrouping, object any) any {
	if t, is := object.(*api.Task); is {
		if now := tasks.held(txn, t.ID); now != nil {
			return now
		}
		return nil
	}
	table := tableOf(object)
	if table == "" {
		return nil
	}
	now, err := txn.First(table, indexID, idOf(object))
	if err != nil {
		panic("collector: " + err.Error()) // a table or index that the schema lacks
	}
	return now
}

// free notes that a task vanishes from its node.
func free(txn *memdb.Txn, t *api.Task) error {
	if t.NodeID == "" || t.Status.State > api.TaskStateRunning {
		return nil
	}
	if err := txn.Insert(tableFreed, &freed{t.NodeID, time.Now()}); err != nil {
		return fmt.Errorf("note what task %s leaves on its node: %w", t.ID, err)
	}
	return nil
}

// others returns what is stored and not among the objects.
func others(txn *memdb.Txn, objects []any) ([]any, error) {
	type key struct{ table, id string }
	here := make(map[key]bool, len(objects))
	for _, object := range objects {
		here[key{tableOf(object), idOf(object)}] = true
	}
	var gone []any
	note := func(object any) {
		if !here[key{tableOf(object), idOf(object)}] {
			gone = append(gone, object)
		}
	}
	for t := range allTasks(txn) {
		note(t)
	}
	for _, table := range []string{tableNode, tableService, tableNetwork, tableVolume} {
		rows, err := txn.Get(table, indexID)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", table, err)
		}
		for row := rows.Next(); row != nil; row = rows.Next() {
			note(row)
		}
	}
	return gone, nil
}

func idOf(object any) string {
	switch o := object.(type) {
	case *api.Node:
		return o.ID
	case *api.Service:
		return o.ID
	case *api.Task:
		return o.ID
	case *api.Network:
		return o.ID
	case *api.Volume:
		return o.ID
	}
	return ""
}

func tableOf(object any) string {
	switch object.(type) {
	case *api.Node:
		return tableNode
	case *api.Service:
		return tableService
	case *api.Task:
		return tableTask
	case *api.Network:
		return tableNetwork
	case *api.Volume:
		return tableVolume
	}
	return ""
}
