package analyzer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// Analyze names the cause of everything that is stuck in the state. now is the time to measure ages by.
func Analyze(state *collector.State, now time.Time, patience Patience) Result {
	return newPass(state, now, patience).run()
}

// run asks every rule.
func (p *Pass) run() Result {
	p.result.Cluster = p.describe()
	p.blind()
	for _, f := range p.Services {
		p.explainPending(f)
	}
	for _, rule := range Rules() {
		if rule.Check != nil {
			rule.Check(p, rule)
		}
	}
	p.forget()
	p.explainUnplaced()
	p.explainRest()
	p.explainUnseen()
	p.blindToTime()
	slices.SortStableFunc(p.result.Diagnoses, compareDiagnoses)
	slices.SortStableFunc(p.result.Ignored, compareDiagnoses)
	p.tellIncidents()
	return *p.result
}

// compareDiagnoses puts what is down first, then the graver, then what is stuck for longer.
func compareDiagnoses(a, b Diagnosis) int {
	impacts := []Impact{Down, Degraded, UpdateBlocked, NoImpact}
	severities := []Severity{Critical, Warning, Info}
	return cmp.Or(
		cmp.Compare(slices.Index(impacts, a.Impact), slices.Index(impacts, b.Impact)),
		cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)),
		a.Since.Compare(b.Since),
		cmp.Compare(a.Service, b.Service),
		cmp.Compare(a.ID, b.ID),
	)
}

func (p *Pass) describe() Cluster {
	c := Cluster{
		ID: p.State.ClusterID, Name: p.State.ClusterName, Source: p.State.Source, AsOf: p.State.AsOf,
		EngineVersions: []string{},
	}
	for _, n := range p.Cluster.Nodes() {
		c.Nodes++
		if n.ManagerStatus != nil || n.Role == api.NodeRoleManager {
			c.Managers++
		}
		if n.ManagerStatus != nil && n.ManagerStatus.Leader {
			c.Leader = n.Name
		}
		if d := n.Description; d != nil && d.Engine != nil && !slices.Contains(c.EngineVersions, d.Engine.EngineVersion) {
			c.EngineVersions = append(c.EngineVersions, d.Engine.EngineVersion)
		}
	}
	slices.Sort(c.EngineVersions)
	return c
}

// blind says what this look could not see.
func (p *Pass) blind() {
	for _, gap := range p.State.Gaps {
		p.result.Blind = append(p.result.Blind, gap.What+": "+gap.Why)
	}
	for _, n := range p.Cluster.Nodes() {
		if n.Description != nil && n.Description.Platform != nil && n.Description.Platform.OS == "windows" {
			p.result.Blind = append(p.result.Blind, fmt.Sprintf("node %s runs Windows: it is judged by what the managers say of it alone", n.Name))
		}
		if label, set := n.Spec.Annotations.Labels[labelMaintenance]; set {
			if _, err := time.Parse(time.RFC3339, label); err != nil {
				p.result.Blind = append(p.result.Blind, fmt.Sprintf("label %s of node %s is not used: want a time such as 2026-01-31T18:00:00Z, not %q", labelMaintenance, n.Name, label))
			}
		}
	}
	for _, f := range p.Services {
		p.result.Blind = append(p.result.Blind, wrongLabels(f.Service)...)
	}
}

// blindToTime says which time counts as the present, where something was judged by an age that may be more.
func (p *Pass) blindToTime() {
	if p.usedAges && p.patience.LeastAges {
		p.result.Blind = append(p.result.Blind, "time: no SystemTime of `docker info` says when this was written: the newest time in it, "+
			p.Now.UTC().Format("2006-01-02 15:04:05 UTC")+", counts as now, and what is young by it may have been as it is for longer")
	}
}
