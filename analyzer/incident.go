package analyzer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Incident is one thing behind several diagnoses: a node that takes no tasks, a plugin or a label that no node has, a
// network, a scheduler that stands still, the last change of a stack.
type Incident struct {
	// ID is a stable hash of cause and subject.
	ID      string  `json:"id"`
	Subject Subject `json:"subject"`
	// Cause is that of a rule where the thing is what the rule is about, else nodeUnavailable, networkShared or stackChanged.
	Cause   string `json:"cause"`
	Summary string `json:"summary"`
	// Diagnoses are the ids of those that it is behind, Services their names; Tasks is how many tasks these are in all.
	Diagnoses []string `json:"diagnoses"`
	Services  []string `json:"services"`
	Tasks     int      `json:"tasks"`
	// Remedy is a command that is among the remedies of every one of the diagnoses; empty where there is none. Where it is not
	// proven for each of them, a comment of the shell behind it says so, where it runs, and what to know before.
	Remedy string `json:"remedy,omitempty"`
}

// The causes of incidents that no rule has.
const (
	nodeUnavailable = "node-unavailable"
	networkShared   = "network-shared"
	stackChanged    = "stack-changed"
)

// thing is what may be behind more than one diagnosis.
type thing struct {
	cause   string
	subject Subject
	says    string // what is the matter with it: the beginning of a sentence
}

// behind is a thing, and what hangs on it.
type behind struct {
	thing
	names     []string // of the nodes where these are several
	diagnoses []*Diagnosis
	tasks     int
}

// tellIncidents says once what is behind several diagnoses. What changed in a stack counts where nothing else explains it.
func (p *Pass) tellIncidents() {
	var all []*behind
	all = append(all, p.awayNodes()...)
	all = append(all, p.sharedThings()...)
	told := map[string]bool{}
	all = slices.DeleteFunc(all, func(b *behind) bool { return len(b.diagnoses) < 2 })
	for _, b := range all {
		for _, d := range b.diagnoses {
			told[d.ID] = true
		}
	}
	all = append(all, p.changedStacks(told)...)
	for _, b := range all {
		p.result.Incidents = append(p.result.Incidents, b.incident())
	}
	slices.SortFunc(p.result.Incidents, func(a, b Incident) int {
		return cmp.Or(len(b.Services)-len(a.Services), b.Tasks-a.Tasks, strings.Compare(a.Cause, b.Cause), strings.Compare(a.Subject.Name, b.Subject.Name))
	})
}

func (b *behind) incident() Incident {
	i := Incident{Subject: b.subject, Cause: b.cause, Tasks: b.tasks}
	for _, d := range b.diagnoses {
		i.Diagnoses = append(i.Diagnoses, d.ID)
		if !slices.Contains(i.Services, d.Service) {
			i.Services = append(i.Services, d.Service)
		}
	}
	slices.Sort(i.Diagnoses)
	slices.Sort(i.Services)
	i.Summary = fmt.Sprintf("%s: %s of %s (%s)", b.says, count(i.Tasks, "task"), count(len(i.Services), "service"), list(i.Services))
	sum := sha256.Sum256([]byte(strings.Join([]string{i.Cause, string(i.Subject.Kind), i.Subject.ID, i.Subject.Name}, "\x00")))
	i.ID = hex.EncodeToString(sum[:6])
	return i
}

// held is how many tasks a diagnosis is about, those that do not exist among them.
func (d *Diagnosis) held() int { return d.Tasks + d.missing }

// sharedThings are what rules found to be the matter besides the service itself.
func (p *Pass) sharedThings() []*behind {
	byKey := map[thing]*behind{}
	for i := range p.result.Diagnoses {
		d := &p.result.Diagnoses[i]
		for _, t := range d.behind {
			if byKey[t] == nil {
				byKey[t] = &behind{thing: t}
			}
			byKey[t].diagnoses = append(byKey[t].diagnoses, d)
			byKey[t].tasks += d.held()
		}
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b *behind) int { return strings.Compare(a.says, b.says) })
}

// awayNodes are the nodes that would take what is stuck, were they ready and active. Those that would take the same are
// told together.
func (p *Pass) awayNodes() []*behind {
	var found []*behind
	for i, n := range p.Cluster.Nodes() {
		if isReady(n.Node) || p.inMaintenance([]*filters.Node{n}) {
			continue
		}
		b := p.waitsFor(n, i)
		if len(b.diagnoses) == 0 {
			continue
		}
		alike := slices.IndexFunc(found, func(other *behind) bool {
			return other.cause == b.cause && other.tasks == b.tasks && slices.Equal(other.diagnoses, b.diagnoses)
		})
		if alike < 0 {
			b.names = []string{n.Name}
			found = append(found, b)
			continue
		}
		first := found[alike]
		first.names = append(first.names, n.Name)
		first.says = fmt.Sprintf("%s are down, drained or paused, and by every other filter would take what is stuck", list(first.names))
	}
	return found
}

// waitsFor finds what only the availability of a node keeps from it; index is that of the node in the cluster.
func (p *Pass) waitsFor(n *filters.Node, index int) *behind {
	state, since := notReady(n)
	b := &behind{thing: thing{
		nodeUnavailable, Subject{NodeSubject, n.ID, n.Name},
		fmt.Sprintf("%s is %s since %s, and by every other filter would take what is stuck", n.Name, state, since.UTC().Format(time.RFC3339)),
	}}
	for i := range p.result.Diagnoses {
		d, tasks := &p.result.Diagnoses[i], 0
		for _, w := range d.Waiting {
			if w.misses(n, index) {
				tasks += len(w.Tasks)
			}
		}
		if tasks > 0 {
			b.diagnoses = append(b.diagnoses, d)
			b.tasks += tasks
		}
	}
	return b
}

// misses tells whether the node would take the tasks if it were ready and active, and no other node takes them now.
// A matrix has a row for every node of the cluster, in the same order, or for a preassigned task that of its own.
func (w *Waiting) misses(n *filters.Node, index int) bool {
	if w.Nearest != nil && w.Nearest.Passes() {
		return false
	}
	if w.Task().NodeID != "" {
		index = 0
	}
	if index >= len(w.Rows) || w.Rows[index].Node.ID != n.ID {
		return false
	}
	return w.takesOnReturn(w.Rows[index])
}

func isReady(n *api.Node) bool {
	return n.Status.State == api.NodeStatus_READY && n.Spec.Availability == api.NodeAvailabilityActive
}
