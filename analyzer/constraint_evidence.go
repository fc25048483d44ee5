package analyzer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// evidence is one fact for each expression, and one for all together where there are more.
func (h constraintHelp) evidence() []Evidence {
	var facts []Evidence
	for _, f := range h.Findings {
		hints := []string{f.Never()}
		if len(f.Matches) > 0 {
			hints = append(hints, fmt.Sprintf("%s alone matches %s: %s", f.Text, count(len(f.Matches), "node"), h.names(f.Matches)))
		} else if f.Never() == "" {
			hints = append(hints, "no node matches "+f.Text)
		}
		hints = slices.DeleteFunc(append(hints, h.hints(f)...), func(s string) bool { return s == "" })
		facts = append(facts, Evidence{
			What: "constraint", Wanted: f.Text, Found: h.found(f.Key, f.Others), Hint: strings.Join(hints, "; "),
		})
	}
	if len(facts) < 2 {
		return facts
	}
	together := []string{h.closest()}
	for _, pair := range append(h.Contradictions, h.Exclusive...) {
		together = append(together, fmt.Sprintf("%s and %s exclude each other: %s", pair.A.Text, pair.B.Text, pair.Why))
	}
	texts := make([]string, len(h.Findings))
	for i, f := range h.Findings {
		texts[i] = f.Text
	}
	return append(facts, Evidence{What: "constraint", Wanted: strings.Join(texts, " and "), Hint: strings.Join(together, "; ")})
}

// checks show the constraints, and what at most five nodes have for them: those first that nearly match.
func (h constraintHelp) checks() []Check {
	checks := []Check{h.constraintsCheck()}
	if nodes, keys := h.nodesToShow(), h.keysToShow(); len(nodes) > 0 && len(keys) > 0 {
		checks = append(checks, nodesCheck(nodes, keys))
	}
	return checks
}

// constraintsCheck reads the service, or the task where that waits with an older spec.
func (h constraintHelp) constraintsCheck() Check {
	t := h.w.Task()
	command := "docker inspect --type task -f '{{json .Spec.Placement.Constraints}}' " + t.ID
	if s := h.w.Service; s != nil && s.Spec.Task.Placement != nil && slices.Equal(s.Spec.Task.Placement.Constraints, t.Spec.Placement.Constraints) {
		command = "docker service inspect -f '{{json .Spec.TaskTemplate.Placement.Constraints}}' " + h.w.serviceRef()
	}
	shows, err := json.Marshal(t.Spec.Placement.Constraints) // what swarmkit accepts holds none of <>&, which Docker leaves as they are
	if err != nil {
		return Check{Command: command}
	}
	return Check{Command: command, Shows: string(shows)}
}

func (h constraintHelp) nodesToShow() []*filters.Node {
	var nodes []*filters.Node
	add := func(more []*api.Node) {
		for _, n := range more {
			node := h.w.Pass.Cluster.Node(n.ID)
			if len(nodes) < most && !slices.Contains(nodes, node) {
				nodes = append(nodes, node)
			}
		}
	}
	for _, f := range h.Findings {
		for _, s := range f.Suggestions {
			add(s.Matches)
		}
	}
	add([]*api.Node{h.Closest})
	add(nodesOf(h.w.Rows))
	slices.SortFunc(nodes, func(a, b *filters.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

// keysToShow are the keys of the expressions, and what was meant by those that match no node.
func (h constraintHelp) keysToShow() []constraints.Key {
	var keys []constraints.Key
	add := func(key constraints.Key) {
		if key.Known() && len(keys) < most && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, f := range h.Findings {
		add(f.Key)
		switch {
		case len(f.Suggestions) > 0:
			add(f.Suggestions[0].Key)
		case !f.Key.Known():
			add(constraints.ParseKey(f.Key.Proper()))
		}
	}
	return keys
}

// hostnameTemplate begins each line of a check on nodes.
const hostnameTemplate = "{{.Description.Hostname}}"

func nodesCheck(nodes []*filters.Node, keys []constraints.Key) Check {
	format := hostnameTemplate
	keys = slices.DeleteFunc(keys, func(key constraints.Key) bool { return key.Template() == hostnameTemplate })
	for _, key := range keys {
		format += " " + key.Text + "=" + key.Template()
	}
	command := "docker node inspect -f '" + format + "'"
	var shows []string
	for _, n := range nodes {
		command += " " + quote(n.Ref())
		line := ""
		if n.Description != nil {
			line = n.Description.Hostname
		}
		for _, key := range keys {
			line += " " + key.Text + "=" + key.Value(n.Node)
		}
		shows = append(shows, line)
	}
	return Check{Command: command, Shows: strings.Join(shows, "\n")}
}
