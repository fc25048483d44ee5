package remedy

import (
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// divide tells the nodes that may take one of the tasks from those that take none. What the scheduler places takes away from
// nodes and never gives, so that one that refuses before does so ever after. Cluster volumes are left to the scheduler, which
// judges fewer mounts than managers may.
func divide(cluster *filters.Cluster, tasks []*api.Task) (take, refuse []*filters.Node) {
	takes := map[*filters.Node]bool{}
	for _, t := range kinds(tasks) {
		for _, row := range cluster.Judge(t) {
			row.Verdicts[filters.Volumes] = filters.Skip
			takes[row.Node] = takes[row.Node] || row.Passes()
		}
	}
	for _, n := range cluster.Nodes() {
		if takes[n] {
			take = append(take, n)
		} else {
			refuse = append(refuse, n)
		}
	}
	return take, refuse
}

// kinds are tasks of which no two are judged as one by the scheduler (manager/scheduler.Scheduler.tick).
func kinds(tasks []*api.Task) []*api.Task {
	type common struct {
		service string
		version api.Version
	}
	var all []*api.Task
	seen := map[common]bool{}
	for _, t := range tasks {
		if t.NodeID == "" && t.SpecVersion != nil {
			kind := common{t.ServiceID, *t.SpecVersion}
			if seen[kind] {
				continue
			}
			seen[kind] = true
		}
		all = append(all, t)
	}
	return all
}

// branches stands for nodes that refuse all of the tasks. Where these are to be spread, the branches that such nodes are in
// and the tasks that run there decide how many go to the others (manager/scheduler.nodeSet.tree): of all nodes in the same
// branches there is one, drained, with the tasks of all.
func (f *folded) branches(nodes []*filters.Node, waiting []*api.Task) {
	var keys []constraints.Key
	spread := map[string]bool{} // by service
	for _, t := range kinds(waiting) {
		if p := t.Spec.Placement; t.NodeID == "" && p != nil {
			for _, preference := range p.Preferences {
				if over := preference.GetSpread(); over != nil {
					keys = append(keys, constraints.ParseKey(over.SpreadDescriptor))
					spread[t.ServiceID] = true
				}
			}
		}
	}
	if len(keys) == 0 {
		return
	}
	stands := map[string]string{} // the id of the node, by branches
	active := map[[2]string]int{} // tasks, by that id and service
	for _, n := range nodes {
		values := make([]string, len(keys))
		for i, key := range keys {
			values[i] = key.Value(n.Node)
		}
		branch := strings.Join(values, "\x00")
		if stands[branch] == "" {
			stands[branch] = n.ID
			f.nodes = append(f.nodes, drainedLike(n.Node))
		}
		for service := range spread {
			active[[2]string{stands[branch], service}] += n.ActiveTasks(service)
		}
	}
	for at, number := range active {
		f.add(at[0], at[1], number)
	}
}

// drainedLike is a node with the labels of another one that takes nothing.
func drainedLike(n *api.Node) *api.Node {
	drained := &api.Node{ID: n.ID, Spec: api.NodeSpec{Annotations: n.Spec.Annotations, Availability: api.NodeAvailabilityDrain}}
	if n.Description != nil && n.Description.Engine != nil {
		drained.Description = &api.NodeDescription{Engine: &api.EngineDescription{Labels: n.Description.Engine.Labels}}
	}
	return drained
}
