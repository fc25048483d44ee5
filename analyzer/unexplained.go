package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
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

// explainRest gives every stuck entry that no rule explained its diagnosis: none goes without. Those of one spec that the
// same component holds are one.
func (p *Pass) explainRest() {
	type fault struct {
		component Component
		current   bool
	}
	for _, f := range p.Services {
		faults := map[fault][]*Stuck{}
		for _, s := range f.Stuck {
			if !s.explained && p.Due(s, false) {
				key := fault{componentOf(s.State), isCurrent(f.Service, s.Task)}
				faults[key] = append(faults[key], s)
			}
		}
		for key, stuck := range faults {
			slices.SortStableFunc(stuck, func(a, b *Stuck) int { return a.Since.Compare(b.Since) })
			p.Report(unexplained, key.component, f, stuck, p.unexplain(f, stuck), func(d *Diagnosis) {
				d.Confidence = Possible
				if t := stuck[0].Task; t != nil {
					d.DockerSays = t.Status.Err
				}
			})
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

func (p *Pass) unexplain(f *Followed, stuck []*Stuck) Finding {
	byState := map[string]int{}
	for _, s := range stuck {
		byState[s.State] += max(s.Slots, 1)
	}
	var held []string
	for _, state := range slices.Sorted(maps.Keys(byState)) {
		if state == stateNone {
			held = append(held, fmt.Sprintf("%s of %d without a task", count(byState[state], "slot"), f.Wanted))
		} else {
			held = append(held, fmt.Sprintf("%s %s", count(byState[state], "task"), state))
		}
	}
	age := p.Now.Sub(stuck[0].Since).Round(time.Second)
	finding := Finding{
		Summary:  fmt.Sprintf("%s, the first for %s, and no rule says why", strings.Join(held, " and "), age),
		Evidence: []Evidence{{What: "state", Wanted: stuck[0].State}},
		Check:    []Check{},
	}
	for _, s := range stuck {
		if s.Task == nil || len(finding.Evidence) > most {
			continue
		}
		if node := p.Cluster.Node(s.Task.NodeID); node != nil {
			finding.Evidence = append(finding.Evidence, Evidence{What: "node", Node: node.Name, Wanted: s.Task.ID})
		}
	}
	if t := stuck[0].Task; t != nil {
		finding.Check = []Check{{
			Command: "docker inspect --type task -f '{{.Status.State}} {{.DesiredState}}' " + t.ID,
			Shows:   stateOf(t) + " " + desiredOf(t),
		}}
	}
	return finding
}
