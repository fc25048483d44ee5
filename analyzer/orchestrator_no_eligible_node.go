package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "no-eligible-node",
	Component: Orchestrator,
	Title:     "a global service has no task, because no node may run it",
	Doc: `Swarm makes a task of a global service for every node that is active, not down, and meets the placement constraints. Where no node does,
there is no task, and no message anywhere. docker service ls says 0/0, as it counts only nodes that may run it; here a task is
wanted on every node that is active, so that of three it says 0 of 3 running.

Correct the constraints, give a node the label that they ask for, or bring a node back (docker node update --availability active).`,
	Check: checkEligible,
})

func checkEligible(p *Pass, rule *Rule) {
	for _, f := range p.Services {
		if isGlobal(f.Service) && f.Live == 0 && !p.isEligibleAnywhere(f.Service) {
			p.reportNoEligibleNode(rule, f)
		}
	}
}

// isEligibleAnywhere is also true where no node could be seen: then nothing is known.
func (p *Pass) isEligibleAnywhere(s *api.Service) bool {
	nodes := p.Cluster.Nodes()
	return len(nodes) == 0 || slices.ContainsFunc(nodes, func(n *filters.Node) bool { return p.runsGlobal(s, n.ID) })
}

func (p *Pass) reportNoEligibleNode(rule *Rule, f *Followed) {
	since := later(at(f.Service.Meta.CreatedAt), at(f.Service.Meta.UpdatedAt))
	for _, t := range f.Tasks {
		since = later(since, entered(t))
	}
	none := &Stuck{
		Service: f.Service, State: stateNone, Slots: f.Wanted, Since: since,
		Overdue: since.Add(p.patience.threshold(f.Service, nil, stateNone)),
	}
	if !p.Due(none, true) {
		return
	}
	w := p.wouldWait(f.Service)
	explained, finding := explainGlobal(w)
	p.Report(rule, rule.Component, f, []*Stuck{none}, Finding{
		Summary:  "no task exists for this global service" + finding.Summary,
		Evidence: []Evidence{{What: "node", Wanted: "active, not down, and matching the constraints", Found: foundIn(whatKeepsOut(w))}},
		Check:    finding.Check,
		behind:   finding.behind,
	}, func(d *Diagnosis) {
		d.Waiting, d.HealsItself = []*Waiting{w}, p.healsItself(w)
		d.Nodes = groupNodes(w, w.Rows)
		d.Also = append(d.Also, Also{Cause: explained.Cause, Shape: finding.Shape, Evidence: finding.Evidence})
	})
}

// wouldWait judges on every node a task such as the orchestrator would make.
func (p *Pass) wouldWait(s *api.Service) *Waiting {
	t := &api.Task{ServiceID: s.ID, Spec: s.Spec.Task, SpecVersion: s.SpecVersion, Endpoint: s.Endpoint}
	w := &Waiting{Pass: p, Service: s, Tasks: []*api.Task{t}, Rows: p.Cluster.Judge(t)}
	w.Wanted = filters.Without(w.Rows, filters.Constraints)
	return w
}

// explainGlobal asks why the constraints leave no node, or else why none of those that they leave is available. The
// global orchestrator looks at nothing else (manager/orchestrator/global).
func explainGlobal(w *Waiting) (*Rule, Finding) {
	reason, join := filters.Reason{Filter: filters.Constraints}, ": "
	if len(w.Wanted) > 0 {
		reason.Filter, join = filters.Ready, ", which "
	}
	rule := ruleFor(reason)
	finding := rule.Explain(w, reason)
	finding.Summary = join + finding.Summary
	return rule, finding
}

// whatKeepsOut groups the nodes by what keeps the service from them.
func whatKeepsOut(w *Waiting) map[string][]string {
	nodes := map[string][]string{}
	for _, row := range w.Rows {
		var why []string
		if row.Verdicts[filters.Constraints] == filters.Fail {
			why = append(why, "does not match the constraints")
		}
		if state, _ := notReady(row.Node); row.Verdicts[filters.Ready] == filters.Fail {
			why = append(why, fmt.Sprintf("is %s", state))
		}
		both := strings.Join(why, " and ")
		nodes[both] = append(nodes[both], row.Node.Name)
	}
	return nodes
}
