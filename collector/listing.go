package collector

import (
	"reflect"

	"github.com/hashicorp/go-memdb"
)

// Listing gathers a whole state part by part. It holds only what the store will hold, and nothing twice, so that parts can
// come and go.
type Listing struct {
	store *Store
	kept  []any
}

// List begins a listing of what the managers hold.
func (s *Store) List() *Listing { return &Listing{store: s} }

// Add takes a part; see Put.
func (l *Listing) Add(objects ...any) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	txn := l.store.db.Txn(false)
	for _, kept := range l.store.models.keep(objects) {
		if now := held(txn, nil, kept); reflect.DeepEqual(now, kept) {
			kept = now
		}
		l.kept = append(l.kept, kept)
	}
}

// Replace makes what was listed the whole state.
func (l *Listing) Replace() error {
	return l.store.write(func(txn *memdb.Txn) ([]change, error) {
		changes, err := insert(txn, l.kept)
		if err != nil {
			return nil, err
		}
		gone, err := others(txn, l.kept)
		if err != nil {
			return nil, err
		}
		removed, err := remove(txn, gone)
		return append(changes, removed...), err
	})
}

// Replace makes the objects the whole state; see Put.
func (s *Store) Replace(objects []any) error {
	l := s.List()
	l.Add(objects...)
	return l.Replace()
}
