package analyzer

import (
	"fmt"
	"slices"
)

var unexplained = register(&Rule{
	Cause:     "unexplained",
	Component: Orchestrator, // of its states; each diagnosis names the one that holds the task
	Title:     "stuck past its threshold, and no rule says why",
	Doc: `The task or service has been stuck for longer than it should, and nothing that swarmdiag knows explains it. The diagnosis
names the state, for how long, what was checked, and what could not be seen.

Read the component's own log: the leader's dockerd for tasks that do not exist, are new or pending, else the dockerd of
the node that the task is assigned to.`,
})

// explainRest gives every stuck entry that no rule explained its diagnosis: none goes without.
func (p *Pass) explainRest() {
	for _, f := range p.Services {
		byState := map[string][]*Stuck{}
		for _, s := range f.Stuck {
			if !s.explained && p.Due(s, false) {
				byState[s.State] = append(byState[s.State], s)
			}
		}
		for _, state := range append(slices.Clone(states), endStates...) {
			if stuck := byState[state]; len(stuck) > 0 {
				slices.SortStableFunc(stuck, func(a, b *Stuck) int { return a.Since.Compare(b.Since) })
				p.Report(unexplained, componentOf(state), f, stuck, p.unexplain(f, state, stuck), func(d *Diagnosis) {
					d.Confidence = Possible
					if t := stuck[0].Task; t != nil {
						d.DockerSays = t.Status.Err
					}
				})
			}
		}
	}
}

// endStates are those of a slot whose last task has ended and is not replaced.
var endStates = []string{"complete", "shutdown", "failed", "rejected", "orphaned"}

// componentOf tells which part of Swarm holds a task in the state.
func componentOf(state string) Component {
	switch state {
	case stateNone:
		return Orchestrator
	case "new":
		return Allocator
	case "pending":
		return Scheduler
	}
	if slices.Contains(endStates, state) {
		return Orchestrator
	}
	return Agent
}

func (p *Pass) unexplain(f *Followed, state string, stuck []*Stuck) Finding {
	since := stuck[0].Since
	age := p.Now.Sub(since).Round(1e9)
	finding := Finding{Evidence: []Evidence{{What: "state", Wanted: state}}, Check: []Check{}}
	if state == stateNone {
		finding.Summary = fmt.Sprintf("%s of %d missing since %s ago, and no task exists for them", count(len(stuck), "task"), f.Wanted, age)
		return finding
	}
	t := stuck[0].Task
	finding.Summary = fmt.Sprintf("%s %s for %s, and no rule says why", count(len(stuck), "task"), state, age)
	finding.Check = []Check{{
		Command: "docker inspect --type task -f '{{.Status.State}} {{.DesiredState}}' " + t.ID,
		Shows:   stateOf(t) + " " + desiredOf(t),
	}}
	for _, s := range stuck {
		node := p.Cluster.Node(s.Task.NodeID)
		if node == nil {
			continue
		}
		finding.Evidence = append(finding.Evidence, Evidence{What: "node", Node: node.Name, Wanted: s.Task.ID})
		if len(finding.Evidence) > most {
			break
		}
	}
	return finding
}
