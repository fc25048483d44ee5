package collector

import (
	"iter"
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/moby/swarmkit/v2/api"
)

// State is what the cluster's managers said at one moment: swarmkit's own objects, reduced to the fields
// that a rule reads. It never changes; objects that it hands out must not be changed either.
type State struct {
	About
	db      *memdb.MemDB
	txn     *memdb.Txn
	history history
}

func newState(about About, db *memdb.MemDB) *State {
	return &State{About: about, db: db, txn: db.Txn(false)}
}

// With returns a copy in which objects are added or replaced, and others are gone. It shares all the rest with this one,
// which stays as it is.
func (s *State) With(put []any, gone ...any) (*State, error) {
	db := s.db.Snapshot()
	txn := db.Txn(true)
	defer txn.Abort()
	if _, err := insert(txn, models{}.keep(put)); err != nil {
		return nil, err
	}
	if _, err := remove(txn, gone); err != nil {
		return nil, err
	}
	txn.Commit()
	return newState(s.About, db), nil
}

// About says where a State comes from and what it lacks.
type About struct {
	// Source is the kind of the source: "watch", "engine", "dump" or "snapshot".
	Source string
	// ClusterID and ClusterName are the swarm's, empty where the source does not tell.
	ClusterID, ClusterName string
	// AsOf is when the source last agreed with the managers.
	AsOf time.Time
	// Undated tells that the source does not say when it is from: AsOf is then the newest time in it, and all that is in it may
	// be older than it looks.
	Undated bool
	// Every is how often a source that polls takes a reading, with what that costs in mind; zero for others.
	Every time.Duration
	// Hides are the fields that sources of this kind never show.
	Hides []Gap
	// Gaps are the readings that this source could not take.
	Gaps []Gap
}

// Gap is something that could not be seen.
type Gap struct {
	// What could not be seen, as an operator would call it: "task.spec_version", "networks".
	What string `json:"what"`
	// Why it could not be seen, and how to mend that: one sentence.
	Why string `json:"why"`
}

// What a Gap is about that rules ask for.
const (
	// NodesGap is where no node could be read at all.
	NodesGap = "nodes"
	// NoTasksGap is where there is no task and there should be: what runs is unknown.
	NoTasksGap = "tasks.json"
)

// Node returns the node with this id, or nil.
func (s *State) Node(id string) *api.Node { return first[api.Node](s.txn, tableNode, indexID, id) }

// Service returns the service with this id, or nil.
func (s *State) Service(id string) *api.Service {
	return first[api.Service](s.txn, tableService, indexID, id)
}

// ServiceNamed returns the service with this name, or nil.
func (s *State) ServiceNamed(name string) *api.Service {
	return first[api.Service](s.txn, tableService, indexName, name)
}

// Task returns the task with this id, or nil.
func (s *State) Task(id string) *api.Task { return taskWith(s.txn, id) }

// Network returns the network with this id, or nil.
func (s *State) Network(id string) *api.Network {
	return first[api.Network](s.txn, tableNetwork, indexID, id)
}

// Volume returns the cluster volume with this id, or nil.
func (s *State) Volume(id string) *api.Volume {
	return first[api.Volume](s.txn, tableVolume, indexID, id)
}

// Nodes yields every node, by id.
func (s *State) Nodes() iter.Seq[*api.Node] { return all[api.Node](s.txn, tableNode, indexID) }

// Services yields every service, by name.
func (s *State) Services() iter.Seq[*api.Service] {
	return all[api.Service](s.txn, tableService, indexName)
}

// Tasks yields every task, by id.
func (s *State) Tasks() iter.Seq[*api.Task] { return allTasks(s.txn) }

// TasksOf yields the tasks of a service, by id.
func (s *State) TasksOf(serviceID string) iter.Seq[*api.Task] {
	return s.grouped(tableOfService, serviceID)
}

// TasksOn yields the tasks that are assigned to a node, by id.
func (s *State) TasksOn(nodeID string) iter.Seq[*api.Task] {
	return s.grouped(tableOnNode, nodeID)
}

// Networks yields every swarm-scope network, by id.
func (s *State) Networks() iter.Seq[*api.Network] {
	return all[api.Network](s.txn, tableNetwork, indexID)
}

// Volumes yields every cluster volume, by id.
func (s *State) Volumes() iter.Seq[*api.Volume] { return all[api.Volume](s.txn, tableVolume, indexID) }

// FreedAt is when a task that had not ended last vanished from the node, by our clock; zero where none was seen to.
func (s *State) FreedAt(nodeID string) time.Time {
	if f := first[freed](s.txn, tableFreed, indexID, nodeID); f != nil {
		return f.at
	}
	return time.Time{}
}

func (s *State) grouped(table, key string) iter.Seq[*api.Task] {
	return func(yield func(*api.Task) bool) {
		if g := first[group](s.txn, table, indexID, key); g != nil {
			slices.Values(g.tasks)(yield)
		}
	}
}

func first[T any](txn *memdb.Txn, table, index, key string) *T {
	object, err := txn.First(table, index, key)
	if err != nil || object == nil {
		return nil
	}
	return object.(*T)
}

func all[T any](txn *memdb.Txn, table, index string, key ...any) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		rows, err := txn.Get(table, index, key...)
		if err != nil {
			panic("collector: " + err.Error()) // a table or index that the schema lacks
		}
		for row := rows.Next(); row != nil; row = rows.Next() {
			if !yield(row.(*T)) {
				return
			}
		}
	}
}
