package analyzer

import (
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// failureMemory is how long the scheduler remembers a failure, manyFailures from how many on it prefers other nodes
	// (manager/scheduler.monitorFailures and maxFailures).
	failureMemory = 5 * time.Minute
	manyFailures  = 5
)

// Whereabouts tell where a service runs, and what of its spec and of the nodes makes it run there.
type Whereabouts struct {
	// On are the nodes with tasks that the scheduler counts for the service, those with most first.
	On []NodeCount `json:"on"`
	// Nodes is how many nodes there are. Each of Left is what a filter leaves of what the ones before it left; one that
	// does not apply is not there. Takes are those that all of them leave.
	Nodes int      `json:"nodes"`
	Left  []Left   `json:"left,omitempty"`
	Takes []string `json:"takes"`
	// Spread is the tree of the placement preferences; nil without any.
	Spread *Branch `json:"spread,omitempty"`
	// Failing are nodes that the scheduler ranks below all others for this version of the service.
	Failing []NodeCount `json:"failing,omitempty"`
}

// NodeCount is a node's name and a number of tasks there.
type NodeCount struct {
	Node  string `json:"node"`
	Tasks int    `json:"tasks"`
}

// Left is how many nodes a filter leaves; By is what it looks at, empty where the filter's name says all.
type Left struct {
	Filter filters.Name `json:"filter"`
	By     []string     `json:"by,omitempty"`
	Nodes  int          `json:"nodes"`
}

// Branch is the nodes with the same value of what tasks are spread over.
type Branch struct {
	Value string `json:"value"`
	// Tasks are those of the service on its nodes, Takes how many of the nodes may run one.
	Tasks int `json:"tasks"`
	Takes int `json:"takes"`
	// By is what the branches below it differ in; empty where there are none.
	By       string    `json:"by,omitempty"`
	Branches []*Branch `json:"branches,omitempty"`
}

// WhereaboutsOf tells where a service runs and why there; now is the time to measure the age of failures by.
func WhereaboutsOf(state *collector.State, s *api.Service, now time.Time) Whereabouts {
	cluster := filters.NewCluster(state)
	model := ModelTask(state, s)
	w := Whereabouts{Nodes: len(cluster.Nodes()), On: []NodeCount{}, Takes: []string{}}
	for _, n := range cluster.Nodes() {
		if tasks := n.ActiveTasks(s.ID); tasks > 0 {
			w.On = append(w.On, NodeCount{n.Name, tasks})
		}
		if failed := recentFailures(state, s, n.ID, now); failed >= manyFailures {
			w.Failing = append(w.Failing, NodeCount{n.Name, failed})
		}
	}
	for _, counts := range [][]NodeCount{w.On, w.Failing} {
		slices.SortStableFunc(counts, func(a, b NodeCount) int { return b.Tasks - a.Tasks })
	}
	takes := w.filter(cluster.Judge(model), model)
	for _, row := range takes {
		w.Takes = append(w.Takes, row.Node.Name)
	}
	w.Spread = spreadTree(cluster, s, takes)
	return w
}

// ModelTask is a task such as the service gets now, on no node; networks are those of a task that has been given some.
func ModelTask(state *collector.State, s *api.Service) *api.Task {
	model := &api.Task{ServiceID: s.ID, Spec: s.Spec.Task, SpecVersion: s.SpecVersion, Endpoint: s.Endpoint}
	for t := range state.TasksOf(s.ID) {
		if isCurrent(s, t) && len(t.Networks) > 0 {
			model.Networks = t.Networks
		}
	}
	return model
}

// filter notes what each filter that does not hang on other tasks leaves, and returns the rest.
func (w *Whereabouts) filter(rows []filters.Row, model *api.Task) []filters.Row {
	for _, filter := range []filters.Name{filters.Constraints, filters.Platform, filters.Plugins, filters.Ready} {
		applies := slices.ContainsFunc(rows, func(row filters.Row) bool { return row.Verdicts[filter] != filters.Skip })
		left := filters.Without(rows, filter)
		dropsNone := filter == filters.Ready && len(left) == len(rows)
		if applies && !dropsNone {
			w.Left = append(w.Left, Left{Filter: filter, By: whatFilterReads(model, filter), Nodes: len(left)})
		}
		rows = left
	}
	return rows
}

func whatFilterReads(t *api.Task, filter filters.Name) []string {
	switch filter {
	case filters.Constraints:
		return t.Spec.Placement.Constraints
	case filters.Platform:
		return []string{platforms(t.Spec.Placement.Platforms)}
	case filters.Plugins:
		var needed []string
		for _, p := range neededPlugins(t) {
			needed = append(needed, p.String())
		}
		return needed
	}
	return nil
}

// recentFailures counts what the scheduler would remember if it had led for so long: tasks of this version that failed or
// were rejected on the node, of those that are still in the history. It keeps no count for preassigned tasks
// (manager/scheduler.Scheduler.updateTask).
func recentFailures(state *collector.State, s *api.Service, nodeID string, now time.Time) int {
	failed := 0
	if isGlobal(s) {
		return failed
	}
	for t := range state.TasksOn(nodeID) {
		ended := t.Status.State == api.TaskStateFailed || t.Status.State == api.TaskStateRejected
		if t.ServiceID == s.ID && ended && versionIndex(s.SpecVersion) == versionIndex(t.SpecVersion) && now.Sub(entered(t)) < failureMemory {
			failed++
		}
	}
	return failed
}

// versionIndex takes a version that is not set for zero (manager/scheduler.versionedService).
func versionIndex(v *api.Version) uint64 {
	if v == nil {
		return 0
	}
	return v.Index
}
