package analyzer

import (
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Pass is one analysis: what rules read, and where they report to.
type Pass struct {
	State   *collector.State
	Cluster *filters.Cluster
	Now     time.Time
	// Services are all services, by name, with what their slots are doing.
	Services []*Followed

	patience Patience
	result   *Result
	// usedAges tells that a finding speaks of how long something has been so, or counts by it.
	usedAges bool
	// unplaced is what waits although a node would take it.
	unplaced []*unplaced
	// ends are the tasks on each node that will end without anybody's doing.
	ends map[string][]*api.Task
	// rows are the matrices of what waits, by service, version of its spec and node.
	rows map[string]*judged
	// differ tells in what the nodes that changed since the pass before are others, by id.
	differ map[string]Reads
	// table is all nodes as constraints see them; nil until it is asked for.
	table *constraints.Table
	// afterStops is the cluster without the tasks that are stopping, afterEnds without all that will end by themselves;
	// nil until they are asked for.
	afterStops, afterEnds *filters.Cluster
	// returned are nodes that take no tasks now as they would be if they did; nil until one is asked for.
	returned map[returning]*filters.Node
}

// newPass looks at everything anew.
func newPass(state *collector.State, now time.Time, patience Patience) *Pass {
	p := &Pass{
		State: state, Cluster: filters.NewCluster(state), Now: now, patience: patience,
		result: emptyResult(), ends: map[string][]*api.Task{}, rows: map[string]*judged{},
	}
	tasks := map[string][]*api.Task{}
	for t := range state.Tasks() {
		tasks[t.ServiceID] = append(tasks[t.ServiceID], t)
		if p.willEnd(t) {
			p.ends[t.NodeID] = append(p.ends[t.NodeID], t)
		}
	}
	for s := range state.Services() {
		p.Services = append(p.Services, p.followed(s, tasks[s.ID]))
	}
	return p
}

func emptyResult() *Result {
	return &Result{Incidents: []Incident{}, Diagnoses: []Diagnosis{}, Blind: []string{}, Unsettled: map[string]bool{}}
}

func (p *Pass) followed(s *api.Service, tasks []*api.Task) *Followed {
	f := p.follow(s, tasks)
	f.Stuck = append(f.Stuck, p.stopping(s, f.Tasks)...)
	return f
}

// Due tells whether a stuck entry counts now: its threshold has passed, or the state proves the cause and that is enough.
func (p *Pass) Due(s *Stuck, proven bool) bool {
	overdue := later(s.Overdue, s.notBefore)
	if proven && p.patience.ProvenAtOnce || !p.Now.Before(overdue) {
		return true
	}
	noneKnown := s.State == stateNone && p.lacks(collector.NoTasksGap)
	if p.patience.LeastAges && s.State != stateStopping && !noneKnown {
		s.ageless, p.usedAges = true, true
		return true
	}
	if p.result.Next.IsZero() || overdue.Before(p.result.Next) {
		p.result.Next = overdue
	}
	return false
}

// lacks tells whether the source says itself that it could not show this.
func (p *Pass) lacks(what string) bool {
	return slices.ContainsFunc(p.State.Gaps, func(g collector.Gap) bool { return g.What == what })
}

// age is how long ago something was, for a sentence: "12s", "at least 12s" where nothing tells how late it is now.
func (p *Pass) age(since time.Time) string {
	p.usedAges = true
	age := p.Now.Sub(since).Round(time.Second)
	switch {
	case !p.patience.LeastAges:
		return age.String()
	case age <= 0:
		return "a time that is not known"
	}
	return "at least " + age.String()
}

// Report adds a diagnosis of a service for a set of its stuck entries, the longest waiting first.
// The finding's cause is the rule's; component is the rule's own unless one is given.
func (p *Pass) Report(rule *Rule, component Component, f *Followed, stuck []*Stuck, finding Finding, fill func(*Diagnosis)) {
	for _, s := range stuck {
		s.explained = true
	}
	d := p.diagnosis(rule, component, f, stuck, finding)
	if fill != nil {
		fill(&d)
	}
	if stuck[0].ageless {
		d.Confidence = Possible
	}
	if ignored(f.Service, &d) || p.inMaintenance(finding.Nodes) {
		p.result.Ignored = append(p.result.Ignored, d)
		return
	}
	p.result.Diagnoses = append(p.result.Diagnoses, d)
}
