package analyzer

import (
	"maps"
	"slices"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Engine analyzes one state of a store after the other, and looks anew only at what changed in between. It says what
// Analyze says. It is not safe for use by several goroutines.
type Engine struct {
	patience Patience
	last     *Pass
}

// NewEngine returns an engine that has seen nothing.
func NewEngine(patience Patience) *Engine { return &Engine{patience: patience} }

// Analyze names the cause of everything that is stuck in the state; see the function of that name.
func (e *Engine) Analyze(state *collector.State, now time.Time) Result {
	var p *Pass
	if changes, known := e.since(state); known {
		p = e.last.renew(state, now, changes)
	} else {
		p = newPass(state, now, e.patience)
	}
	e.last = p
	return p.run()
}

func (e *Engine) since(state *collector.State) (collector.Changes, bool) {
	if e.last == nil {
		return collector.Changes{}, false
	}
	return state.ChangedSince(e.last.State)
}

// renew makes the pass for a later state. What did not change is shared with this one, which must not be used any more.
func (p *Pass) renew(state *collector.State, now time.Time, changes collector.Changes) *Pass {
	nodes := map[string]bool{} // whether a node is to be read anew even where its tasks hold what they did
	for id := range changes.TasksOn {
		nodes[id] = false
	}
	maps.Copy(nodes, changes.Nodes)
	orphaned := p.orphaned(state, changes)
	maps.Copy(nodes, orphaned)
	renewed := &Pass{
		State: state, Cluster: p.Cluster, Now: now, patience: p.patience,
		result: emptyResult(), ends: p.ends, rows: p.rows,
	}
	if len(nodes) > 0 || changes.Volumes {
		renewed.Cluster = p.Cluster.Renew(state, nodes, filters.NoneGone)
	}
	renewed.differ = differences(p.Cluster, renewed.Cluster, nodes, orphaned)
	for id := range nodes {
		renewed.renewEnds(id)
	}
	renewed.renewServices(p.Services, p.Cluster, changes)
	return renewed
}

// orphaned are the nodes of tasks whose service came or went: with it goes the name that they are told by and, where the source
// hides their ports, these.
func (p *Pass) orphaned(state *collector.State, changes collector.Changes) map[string]bool {
	nodes := map[string]bool{}
	for id := range changes.Services {
		if (p.State.Service(id) == nil) == (state.Service(id) == nil) {
			continue
		}
		for t := range state.TasksOf(id) {
			if t.NodeID != "" {
				nodes[t.NodeID] = true
			}
		}
	}
	return nodes
}

func (p *Pass) renewEnds(nodeID string) {
	delete(p.ends, nodeID)
	for t := range p.State.TasksOn(nodeID) {
		if p.willEnd(t) {
			p.ends[nodeID] = append(p.ends[nodeID], t)
		}
	}
}

// renewServices follows those anew that changed, or that hang on a node that did.
func (p *Pass) renewServices(before []*Followed, old *filters.Cluster, changes collector.Changes) {
	dirty := maps.Clone(changes.Services)
	var nodes []string
	for id := range changes.Nodes {
		nodes = append(nodes, id)
		if p.differ[id]&Standing == 0 {
			continue
		}
		for t := range p.State.TasksOn(id) {
			dirty[t.ServiceID] = true
		}
	}
	same := map[string]*Followed{}
	for _, f := range before {
		if id := f.Service.ID; !dirty[id] && !(isGlobal(f.Service) && p.concerns(f, old, nodes)) {
			same[id] = f
		}
	}
	p.Services = make([]*Followed, 0, len(before))
	for s := range p.State.Services() {
		f := same[s.ID]
		if f == nil {
			f = p.followed(s, slices.Collect(p.State.TasksOf(s.ID)))
		}
		p.Services = append(p.Services, f.again())
	}
}

// concerns tells whether a global service has to do with one of the nodes otherwise than before.
func (p *Pass) concerns(f *Followed, old *filters.Cluster, nodes []string) bool {
	return slices.ContainsFunc(nodes, func(id string) bool {
		before, now := old.Node(id), p.Cluster.Node(id)
		if before == nil || now == nil || p.differ[id]&Standing != 0 || len(f.Stuck) > 0 {
			return true
		}
		return filters.RunsGlobal(f.Service, before.Node) != filters.RunsGlobal(f.Service, now.Node)
	})
}

// again returns the service as it was before a pass told what is stuck there.
func (f *Followed) again() *Followed {
	if len(f.Stuck) == 0 {
		return f
	}
	fresh := *f
	fresh.Stuck = make([]*Stuck, len(f.Stuck))
	for i, s := range f.Stuck {
		entry := *s
		entry.explained, entry.notBefore = false, time.Time{}
		fresh.Stuck[i] = &entry
	}
	return &fresh
}
