package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
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

// explainRest gives every stuck entry that no rule explained its diagnosis: none goes without, unless it waits for a node and
// the source could not show any. Those of one spec that the same component holds are one.
func (p *Pass) explainRest() {
	type fault struct {
		component Component
		current   bool
		unseen    bool // the nodes that it may wait for
	}
	lacksNodes := p.lacksNodes()
	for _, f := range p.Services {
		faults := map[fault][]*Stuck{}
		for _, s := range f.Stuck {
			switch {
			case s.explained:
			case p.Due(s, p.isRefused(s) || s.failing):
				key := fault{componentOf(s), isCurrent(f.Service, s.Task), lacksNodes && s.State == stateOfPending && !s.failing}
				faults[key] = append(faults[key], s)
			case s.State != stateStopping: // while an old task ends, its slot is as desired
				p.result.Unsettled[f.Service.ID] = true
			}
		}
		for key, stuck := range faults {
			slices.SortStableFunc(stuck, func(a, b *Stuck) int { return a.Since.Compare(b.Since) })
			if key.unseen {
				p.leaveUnjudged(f, stuck)
				continue
			}
			p.Report(unexplained, key.component, f, stuck, p.unexplain(f, stuck), func(d *Diagnosis) {
				d.Confidence = Possible
				d.DockerSays = lastError(f, stuck)
			})
		}
	}
}

// isRefused tells whether Docker's word on a pending task is all there is, since no node could be seen.
func (p *Pass) isRefused(s *Stuck) bool {
	return s.State == stateOfPending && s.Task.Status.Err != "" && len(p.Cluster.Nodes()) == 0
}

// lacksNodes tells whether the source says itself that it could not show any node.
func (p *Pass) lacksNodes() bool { return len(p.Cluster.Nodes()) == 0 && p.lacks(collector.NodesGap) }

// explainUnseen leaves unjudged the global services without a task where no node was seen: there may be none to run on.
func (p *Pass) explainUnseen() {
	if !p.lacksNodes() {
		return
	}
	for _, f := range p.Services {
		if isGlobal(f.Service) && f.Live == 0 {
			p.leaveUnjudged(f, []*Stuck{{Service: f.Service, State: stateNone, Since: at(f.Service.Meta.CreatedAt)}})
		}
	}
}

// leaveUnjudged keeps what waits for a node, or for one to run on, where no node was seen: why is no riddle of Swarm's.
func (p *Pass) leaveUnjudged(f *Followed, stuck []*Stuck) {
	d := p.diagnosis(unexplained, Scheduler, f, stuck, Finding{})
	if ignored(f.Service, &d) {
		return
	}
	d.DockerSays = lastError(f, stuck)
	what := "it has no task"
	if d.State != stateNone {
		what = waits(len(stuck))
	}
	if d.DockerSays != "" {
		what += ", of which Docker says \"" + d.DockerSays + "\","
	}
	p.result.Unjudged = append(p.result.Unjudged, d)
	p.result.Blind = append(p.result.Blind, fmt.Sprintf("%s: why %s cannot be told without the nodes", d.Service, what))
}

func waits(tasks int) string {
	if tasks == 1 {
		return "1 task waits for a node"
	}
	return fmt.Sprintf("%d tasks wait for a node", tasks)
}

// componentOf tells which part of Swarm holds the entry. That of a task which fails over and over is the agent, between
// two tasks too.
func componentOf(s *Stuck) Component {
	switch s.State {
	case stateNone, "complete", "shutdown":
		return Orchestrator
	case "new":
		return Allocator
	case stateOfPending:
		return Scheduler
	case "failed", "rejected", "orphaned":
		if r := s.Task.Spec.Restart; r != nil && (r.Condition == api.RestartOnNone || r.MaxAttempts > 0) {
			return Orchestrator
		}
	}
	return Agent
}

func (p *Pass) unexplain(f *Followed, stuck []*Stuck) Finding {
	byState, nodes := map[string]int{}, map[string][]string{}
	for _, s := range stuck {
		byState[s.State] += max(s.Slots, 1)
		if s.Task == nil {
			continue
		}
		if node := p.Cluster.Node(s.Task.NodeID); node != nil {
			nodes[s.State] = append(nodes[s.State], node.Name)
		}
	}
	var held []string
	for _, state := range slices.Sorted(maps.Keys(byState)) {
		if state == stateNone {
			held = append(held, fmt.Sprintf("%s of %d without a task", count(byState[state], "slot"), f.Wanted))
		} else {
			held = append(held, fmt.Sprintf("%s %s", count(byState[state], "task"), state))
		}
	}
	finding := Finding{
		Summary:  fmt.Sprintf("%s, the first for %s, and no rule says why", strings.Join(held, " and "), p.age(stuck[0].Since)),
		Evidence: []Evidence{{What: "state", Found: foundIn(nodes), Hint: strings.Join(held, " and ")}},
		Check: []Check{{
			Command: fmt.Sprintf("docker service ps -q %s | wc -l", quote(f.Service.Spec.Annotations.Name)),
			Shows:   strconv.Itoa(len(f.Tasks)),
		}},
	}
	if t := stuck[0].Task; t != nil {
		finding.Check[0] = taskCheck(t)
	}
	if componentOf(stuck[0]) == Allocator {
		finding.behind = p.networksOf(f.Service)
	}
	return finding
}

// networksOf are the overlay networks that the allocator has to give addresses of.
func (p *Pass) networksOf(s *api.Service) []thing {
	var all []thing
	for _, attached := range slices.Concat(s.Spec.Networks, s.Spec.Task.Networks) {
		name := attached.Target
		if n := p.State.Network(attached.Target); n != nil {
			name = n.Spec.Annotations.Name
		}
		t := thing{networkShared, Subject{NetworkSubject, attached.Target, name}, fmt.Sprintf("all that network %s connects here waits for its addresses", name)}
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// lastError is Docker's text on the first task that has one, else on the last task of the service that failed: of a
// slot whose tasks are replaced over and over the newest one has none yet.
func lastError(f *Followed, stuck []*Stuck) string {
	var last *api.Task
	for _, s := range stuck {
		if s.Task == nil {
			continue
		}
		if s.Task.Status.Err != "" {
			return s.Task.Status.Err
		}
		for _, t := range f.Tasks {
			if s.failing && inSlotOf(f.Service, t, s.Task) && t.Status.Err != "" && (last == nil || entered(t).After(entered(last))) {
				last = t
			}
		}
	}
	if last == nil {
		return ""
	}
	return last.Status.Err
}

func inSlotOf(s *api.Service, t, other *api.Task) bool {
	return t.Slot == other.Slot && (!isGlobal(s) || t.NodeID == other.NodeID)
}
