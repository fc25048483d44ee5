package collector

import (
	"fmt"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/moby/swarmkit/v2/api"
)

const (
	tableNode    = "node"
	tableService = "service"
	tableTask    = "task"
	tableNetwork = "network"
	tableVolume  = "volume"
	tableFreed   = "freed"

	tableOfService = "service of a task"
	tableOnNode    = "node of a task"

	indexID   = "id"
	indexName = "name"
)

var schema = &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
	tableNode: table(tableNode, key(indexID, func(n *api.Node) string { return n.ID })),
	tableService: table(tableService, key(indexID, func(s *api.Service) string { return s.ID }),
		key(indexName, func(s *api.Service) string { return s.Spec.Annotations.Name })),
	tableTask:      table(tableTask, key(indexID, func(g *group) string { return g.key })),
	tableNetwork:   table(tableNetwork, key(indexID, func(n *api.Network) string { return n.ID })),
	tableVolume:    table(tableVolume, key(indexID, func(v *api.Volume) string { return v.ID })),
	tableOfService: table(tableOfService, key(indexID, func(g *group) string { return g.key })),
	tableOnNode:    table(tableOnNode, key(indexID, func(g *group) string { return g.key })),
	tableFreed:     table(tableFreed, key(indexID, func(f *freed) string { return f.node })),
}}

// freed is when a task that may have held something last vanished from a node, by our clock: nothing else tells.
type freed struct {
	node string
	at   time.Time
}

func table(name string, indexes ...*memdb.IndexSchema) *memdb.TableSchema {
	t := &memdb.TableSchema{Name: name, Indexes: map[string]*memdb.IndexSchema{}}
	for _, index := range indexes {
		t.Indexes[index.Name] = index
	}
	return t
}

// key indexes objects by a string of theirs; an object whose string is empty is left out of that index.
func key[T any](name string, of func(*T) string) *memdb.IndexSchema {
	return &memdb.IndexSchema{Name: name, Unique: name == indexID, AllowMissing: name != indexID, Indexer: keyIndex[T](of)}
}

type keyIndex[T any] func(*T) string

// FromObject implements memdb.SingleIndexer.
func (k keyIndex[T]) FromObject(object any) (bool, []byte, error) {
	o, ok := object.(*T)
	if !ok {
		return false, nil, fmt.Errorf("index %T: not of this table", object)
	}
	value := k(o)
	return value != "", terminated(value), nil
}

// FromArgs implements memdb.Indexer.
func (k keyIndex[T]) FromArgs(args ...any) ([]byte, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("look up by %d keys: want one", len(args))
	}
	value, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("look up by %T: want a string", args[0])
	}
	return terminated(value), nil
}

// terminated ends a key with a zero byte, so that no key is the prefix of another.
func terminated(value string) []byte { return append([]byte(value), 0) }
