package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/spelling"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Scope narrows a Result to what was asked for; the zero Scope is everything.
type Scope struct {
	// Names are services or tasks, each by its name, its id, or a prefix of its id that no other has.
	Names []string
	// Stack is the name of a stack.
	Stack string
	// Node is the name or id of a node: what should run there and does not.
	Node string

	services, tasks map[string]bool // ids
	node            string          // id
}

// Resolve looks the names up. An error names what does not exist, and the nearest names that do.
func (s *Scope) Resolve(state *collector.State) error {
	s.services, s.tasks = map[string]bool{}, map[string]bool{}
	for _, name := range s.Names {
		if err := s.resolveName(state, name); err != nil {
			return err
		}
	}
	if s.Node != "" {
		n := findNode(state, s.Node)
		if n == nil {
			return fmt.Errorf("no node is named %q%s", s.Node, suggest(s.Node, nodeNames(state)))
		}
		s.node = n.ID
	}
	if s.Stack != "" && !slices.Contains(stacks(state), s.Stack) {
		return fmt.Errorf("no stack is named %q%s", s.Stack, suggest(s.Stack, stacks(state)))
	}
	return nil
}

func (s *Scope) resolveName(state *collector.State, name string) error {
	var names, services, tasks []string
	for service := range state.Services() {
		names = append(names, service.Spec.Annotations.Name)
		if service.Spec.Annotations.Name == name || service.ID == name {
			s.services[service.ID] = true
			return nil
		}
		if strings.HasPrefix(service.ID, name) {
			services = append(services, service.ID)
		}
	}
	known := false
	for t := range state.Tasks() {
		if t.ID == name || taskName(state, t) == name {
			s.tasks[t.ID], known = true, true
		} else if strings.HasPrefix(t.ID, name) {
			tasks = append(tasks, t.ID)
		}
	}
	switch {
	case known:
	case len(services)+len(tasks) > 1:
		return fmt.Errorf("%q begins the ids of %d services and tasks: give more of it", name, len(services)+len(tasks))
	case len(services) == 1:
		s.services[services[0]] = true
	case len(tasks) == 1:
		s.tasks[tasks[0]] = true
	default:
		return fmt.Errorf("no service or task is named %q%s", name, suggest(name, names))
	}
	return nil
}

// taskName is how docker service ps writes a task: the service's name and the slot, or the node's id for a global one.
func taskName(state *collector.State, t *api.Task) string {
	s := state.Service(t.ServiceID)
	if s == nil {
		return ""
	}
	if isGlobal(s) {
		return s.Spec.Annotations.Name + "." + t.NodeID
	}
	return fmt.Sprintf("%s.%d", s.Spec.Annotations.Name, t.Slot)
}

func findNode(state *collector.State, name string) *api.Node {
	for n := range state.Nodes() {
		if n.ID == name || n.Description != nil && n.Description.Hostname == name {
			return n
		}
	}
	return nil
}

func nodeNames(state *collector.State) []string {
	var names []string
	for n := range state.Nodes() {
		if n.Description != nil {
			names = append(names, n.Description.Hostname)
		}
	}
	return names
}

func stacks(state *collector.State) []string {
	var names []string
	for s := range state.Services() {
		if stack := s.Spec.Annotations.Labels[labelStack]; stack != "" && !slices.Contains(names, stack) {
			names = append(names, stack)
		}
	}
	return names
}

// suggest ends an error with the names that were probably meant.
func suggest(name string, names []string) string {
	near := spelling.Nearest(name, names)
	switch {
	case len(near) > 0:
		return ": did you mean " + list(near) + "?"
	case len(names) > 0:
		return ": there are " + list(names)
	}
	return ": there are none"
}

// Narrow returns the part of a result that is in scope. Resolve must have been called.
func (s *Scope) Narrow(state *collector.State, result Result) Result {
	keep := func(list []Diagnosis) []Diagnosis {
		kept := []Diagnosis{}
		for _, d := range list {
			if s.has(state, d) {
				kept = append(kept, d)
			}
		}
		return kept
	}
	result.Diagnoses, result.Ignored, result.Unjudged = keep(result.Diagnoses), keep(result.Ignored), keep(result.Unjudged)
	result.Incidents = about(result.Diagnoses, result.Incidents)
	return result
}

// about picks the incidents behind any of the diagnoses; each still tells of all that it is behind.
func about(diagnoses []Diagnosis, incidents []Incident) []Incident {
	picked := []Incident{}
	for _, i := range incidents {
		if slices.ContainsFunc(diagnoses, func(d Diagnosis) bool { return slices.Contains(i.Diagnoses, d.ID) }) {
			picked = append(picked, i)
		}
	}
	return picked
}

func (s *Scope) has(state *collector.State, d Diagnosis) bool {
	named := len(s.Names) == 0 || s.services[d.Subject.ID] ||
		slices.ContainsFunc(d.stuck, func(id string) bool { return s.tasks[id] })
	return named && (s.Stack == "" || d.Stack == s.Stack) && (s.node == "" || d.concerns(state.Node(s.node)))
}

// concerns tells whether the node is one that should take the tasks, or has them.
func (d *Diagnosis) concerns(n *api.Node) bool {
	name := n.ID
	if n.Description != nil && n.Description.Hostname != "" {
		name = n.Description.Hostname
	}
	isNode := func(other string) bool { return other == name || other == name+" ("+n.ID+")" }
	wanted := []string{"constraints", "platform", "plugins"}
	for _, group := range d.Nodes {
		if slices.ContainsFunc(group.Names, isNode) {
			return !slices.ContainsFunc(wanted, func(filter string) bool { return group.Verdicts[filter] == "fail" })
		}
	}
	return slices.ContainsFunc(d.Evidence, func(e Evidence) bool { return isNode(e.Node) })
}
