package filters

import (
	"slices"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"github.com/moby/swarmkit/v2/manager/scheduler"
)

// Row is one node's verdicts on a task.
type Row struct {
	Node     *Node
	Verdicts Verdicts
}

// Passes tells whether every filter that applies takes the node.
func (r Row) Passes() bool { return r.Verdicts.Count(Fail) == 0 }

// Short returns what is short on the node for the task and by how much, in the units of Asked. What swarmkit refuses
// although the amounts would do (a kind that the node lacks, a request by name) is short by zero. Where more is reserved
// than the node has, that is short even of a task which asks for none of it (manager/scheduler.ResourceFilter.Check).
func (r Row) Short(t *api.Task) map[string]float64 {
	short := map[string]float64{}
	if r.Verdicts[Resources] != Fail {
		return short
	}
	// In whole bytes and billionths of a core: a difference of cores would show what binary fractions cannot hold.
	reserved, free := Reservations(t), r.Node.info.AvailableResources
	if lacks := reserved.MemoryBytes - free.MemoryBytes; lacks > 0 {
		short[Memory] = float64(lacks)
	}
	if lacks := reserved.NanoCPUs - free.NanoCPUs; lacks > 0 {
		short[CPU] = cores(lacks)
	}
	for _, generic := range reserved.Generic {
		if !hasEnough(free, generic) {
			what := GenericPrefix + genericresource.Kind(generic)
			short[what] = max(amountIn(reserved, what)-r.Node.Free(what), 0)
		}
	}
	return short
}

func hasEnough(free *api.Resources, generic *api.GenericResource) bool {
	enough, err := genericresource.HasEnough(free.Generic, generic)
	return err == nil && enough
}

// Lacks tells whether the resource is short on the node for the task.
func (r Row) Lacks(t *api.Task, what string) bool {
	reserved, free := Reservations(t), r.Node.info.AvailableResources
	switch {
	case r.Verdicts[Resources] != Fail:
		return false
	case what == Memory:
		return reserved.MemoryBytes > free.MemoryBytes
	case what == CPU:
		return reserved.NanoCPUs > free.NanoCPUs
	}
	_, lacks := r.Short(t)[what]
	return lacks
}

// Shortest returns the resource of which the largest share of what the task asks is short on the node, and that share:
// all of it where nothing is asked and swarmkit refuses still. Of equal shares the first by name; none where nothing is short.
func (r Row) Shortest(t *api.Task) (what string, share float64) {
	consider := func(resource string, lacks, asked float64) {
		relative := 1.0
		if lacks != 0 && asked != 0 {
			relative = lacks / asked
		}
		if what == "" || relative > share || relative == share && resource < what {
			what, share = resource, relative
		}
	}
	if r.Verdicts[Resources] != Fail {
		return "", 0
	}
	reserved, free := Reservations(t), r.Node.info.AvailableResources
	if lacks := reserved.MemoryBytes - free.MemoryBytes; lacks > 0 {
		consider(Memory, float64(lacks), float64(reserved.MemoryBytes))
	}
	if lacks := reserved.NanoCPUs - free.NanoCPUs; lacks > 0 {
		consider(CPU, float64(lacks), float64(reserved.NanoCPUs))
	}
	for _, generic := range reserved.Generic {
		if !hasEnough(free, generic) {
			resource := GenericPrefix + genericresource.Kind(generic)
			asked := amountIn(reserved, resource)
			consider(resource, max(asked-r.Node.Free(resource), 0), asked)
		}
	}
	return what, share
}

// Judge holds a task against every node, or against its own where it is preassigned (a task of a global service),
// with every filter. A preassigned task whose node is gone gives no row.
func (c *Cluster) Judge(t *api.Task) []Row { return c.Rejudge(t, nil) }

// candidates are the nodes that the scheduler would look at for the task.
func (c *Cluster) candidates(t *api.Task) []*Node {
	if t.NodeID == "" {
		return c.nodes
	}
	if n := c.byID[t.NodeID]; n != nil {
		return []*Node{n}
	}
	return nil
}

// Rejudge is Judge for a task that was judged before: rows of nodes that are in this cluster as they were are kept. The
// rows before are not changed. A task that mounts cluster volumes is to be judged anew: these are not the nodes' own.
func (c *Cluster) Rejudge(t *api.Task, before []Row) []Row {
	nodes := c.candidates(t)
	rows, shared := before, true
	if len(nodes) != len(before) {
		rows, shared = make([]Row, len(nodes)), false
	}
	var enabled []namedFilter
	for i, n := range nodes {
		if rows[i].Node == n {
			continue
		}
		if shared {
			rows, shared = slices.Clone(before), false
		}
		if enabled == nil {
			enabled = swarmkitFilters(t)
		}
		rows[i] = Row{n, c.judge(t, n, enabled)}
	}
	return rows
}

// JudgeOn holds a task against one node with every filter; judged is false where the node is gone, or the task is
// preassigned to another one.
func (c *Cluster) JudgeOn(t *api.Task, nodeID string) (row Row, judged bool) {
	n := c.byID[nodeID]
	if n == nil || t.NodeID != "" && t.NodeID != nodeID {
		return Row{}, false
	}
	return c.JudgeAs(t, n), true
}

// JudgeAs holds a task against a node that need not be as the cluster has it.
func (c *Cluster) JudgeAs(t *api.Task, n *Node) Row { return Row{n, c.judge(t, n, swarmkitFilters(t))} }

func (c *Cluster) judge(t *api.Task, n *Node, enabled []namedFilter) Verdicts {
	var verdicts Verdicts
	for _, f := range enabled {
		verdicts[f.name] = Fail
		if f.Check(&n.info) {
			verdicts[f.name] = Pass
		}
	}
	verdicts[HostPort] = judgePorts(t, n)
	verdicts[Volumes] = c.volumes.judge(t, n)
	return verdicts
}

type namedFilter struct {
	name Name
	scheduler.Filter
}

// swarmkitFilters returns fresh values of swarmkit's filters, as many as apply to the task: those of its own pipeline
// are shared by the process (manager/scheduler.defaultFilters), and keep the task as state.
func swarmkitFilters(t *api.Task) []namedFilter {
	all := []namedFilter{
		{Ready, &scheduler.ReadyFilter{}},
		{Resources, &scheduler.ResourceFilter{}},
		{Plugins, &scheduler.PluginFilter{}},
		{Constraints, &scheduler.ConstraintFilter{}},
		{Platform, &scheduler.PlatformFilter{}},
		{MaxReplicas, &scheduler.MaxReplicasFilter{}},
	}
	enabled := all[:0]
	for _, f := range all {
		if f.SetTask(t) {
			enabled = append(enabled, f)
		}
	}
	return enabled
}
