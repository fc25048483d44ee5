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
}

// NewStore returns an empty store.
func NewStore() *Store {
	db, err := memdb.NewMemDB(schema)
	if err != nil {
		panic("collector: " + err.Error()) // the schema is a constant
	}
	s := &Store{db: db, changed: make(chan struct{})}
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
// A fresh AsOf alone is no change.
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
	before.AsOf = about.AsOf
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

// Replace makes the objects the whole state; see Put.
func (s *Store) Replace(objects []any) error {
	return s.write(func(txn *memdb.Txn) ([]change, error) {
		changes, err := insert(txn, objects)
		if err != nil {
			return nil, err
		}
		gone, err := others(txn, objects)
		if err != nil {
			return nil, err
		}
		removed, err := remove(txn, gone)
		return append(changes, removed...), err
	})
}

// Put adds or replaces objects: *api.Node, *api.Service, *api.Task, *api.Network or *api.Volume; others are passed over.
// What the allow-list lets through is copied, the rest is never stored. An object that is in the store as it is now is
// no change.
func (s *Store) Put(objects ...any) error {
	return s.write(func(txn *memdb.Txn) ([]change, error) { return insert(txn, objects) })
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

func insert(txn *memdb.Txn, objects []any) ([]change, error) {
	var changes []change
	for _, object := range objects {
		table := tableOf(object)
		if table == "" {
			continue
		}
		kept := keep(object)
		before, err := txn.First(table, indexID, idOf(object))
		if err == nil && reflect.DeepEqual(before, kept) {
			continue
		}
		if err := txn.Insert(table, kept); err != nil {
			return nil, fmt.Errorf("put into %s: %w", table, err)
		}
		if before != nil {
			changes = append(changes, changesOf(before))
		}
		changes = append(changes, changesOf(kept))
	}
	return changes, nil
}

func remove(txn *memdb.Txn, objects []any) ([]change, error) {
	var changes []change
	for _, object := range objects {
		table := tableOf(object)
		if table == "" {
			continue
		}
		before, err := txn.First(table, indexID, idOf(object))
		if err != nil || before == nil {
			continue
		}
		if err := free(txn, before); err != nil {
			return nil, err
		}
		if err := txn.Delete(table, before); err != nil {
			return nil, fmt.Errorf("remove from %s: %w", table, err)
		}
		changes = append(changes, changesOf(before))
	}
	return changes, nil
}

// free notes that a task vanishes from its node.
func free(txn *memdb.Txn, object any) error {
	t, is := object.(*api.Task)
	if !is || t.NodeID == "" || t.Status.State > api.TaskStateRunning {
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
	for table := range schema.Tables {
		rows, err := txn.Get(table, indexID)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", table, err)
		}
		for row := rows.Next(); row != nil; row = rows.Next() {
			if tableOf(row) != "" && !here[key{table, idOf(row)}] {
				gone = append(gone, row)
			}
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
