package analyzer

import (
	"maps"
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"

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
	p.markPorts(state, changes, nodes)
	renewed := &Pass{
		State: state, Cluster: p.Cluster, Now: now, patience: p.patience,
		result: emptyResult(), ends: p.ends, rows: p.rows, nodesChanged: len(changes.Nodes) > 0,
	}
	if len(nodes) > 0 || changes.Volumes {
		renewed.Cluster = p.Cluster.Renew(state, nodes, func(*api.Task) bool { return false })
	}
	for id := range nodes {
		renewed.renewEnds(id)
	}
	renewed.renewServices(p.Services, changes)
	return renewed
}

// markPorts adds the nodes of tasks whose service came or went: where the source hides their ports, these go with it.
func (p *Pass) markPorts(state *collector.State, changes collector.Changes, nodes map[string]bool) {
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
}

func (p *Pass) renewEnds(nodeID string) {
	delete(p.ends, nodeID)
	for t := range p.State.TasksOn(nodeID) {
		if p.willEnd(t) {
			p.ends[nodeID] = append(p.ends[nodeID], t)
		}
	}
}

// renewServices follows those anew that changed, or that hang on a node that did: global services, and what has a task
// there.
func (p *Pass) renewServices(before []*Followed, changes collector.Changes) {
	dirty := maps.Clone(changes.Services)
	for id := range changes.Nodes {
		for t := range p.State.TasksOn(id) {
			dirty[t.ServiceID] = true
		}
	}
	same := map[string]*Followed{}
	for _, f := range before {
		if id := f.Service.ID; !dirty[id] && !(len(changes.Nodes) > 0 && isGlobal(f.Service)) {
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

// judged is the matrix of a task.
type judged struct {
	task *api.Task
	rows []filters.Row
	used bool // in this pass
	// waiting is what came of it.
	waiting *Waiting

	// finding is what the rule found out about that task of that service, where that hangs on the nodes alone.
	finding *Finding
	rule    *Rule
	service *api.Service
}

// judge returns the matrix of a task, of which only the rows of nodes that changed are made anew.
func (p *Pass) judge(key string, t *api.Task) []filters.Row {
	known := p.rows[key]
	if known == nil || known.task != t || len(filters.ClusterMounts(t)) > 0 {
		known = &judged{task: t}
		p.rows[key] = known
	}
	known.rows, known.used = p.Cluster.Rejudge(t, known.rows), true
	return known.rows
}

// same returns what came of the matrix in the pass before, where all is as it was then; else nil. What tasks that are about
// to end make of it changes with the time.
func (p *Pass) same(w *Waiting) *Waiting {
	known := p.rows[w.key]
	if known == nil || known.waiting == nil || p.nodesChanged || len(p.ends) > 0 {
		return nil
	}
	old := known.waiting
	if old.Service != w.Service || old.Replicas != w.Replicas || !slices.Equal(old.Tasks, w.Tasks) || !sameRows(old.Rows, w.Rows) {
		return nil
	}
	again := *old
	again.Pass = p
	return &again
}

func sameRows(a, b []filters.Row) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// explained asks the rule of the first reason, unless it has told and none of what it reads has changed.
func (p *Pass) explained(w *Waiting) Finding {
	known := p.rows[w.key]
	if known != nil && known.finding != nil && known.rule == w.rule && known.service == w.Service && !p.nodesChanged {
		return *known.finding
	}
	finding := w.rule.Explain(w, w.Reasons[0])
	if known != nil {
		known.rule, known.service, known.finding = w.rule, w.Service, nil
		if w.rule.OfNodes {
			known.finding = &finding
		}
	}
	return finding
}

// forget drops the matrices that this pass did not ask for.
func (p *Pass) forget() {
	maps.DeleteFunc(p.rows, func(_ string, known *judged) bool { return !known.used })
	for _, known := range p.rows {
		known.used = false
	}
}
