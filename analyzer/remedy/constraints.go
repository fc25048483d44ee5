package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.Constraints, keepConstraint)

// keepConstraint makes a constraint say what was meant, gives nodes the label that it asks for, or takes one off them that it
// does not want. Only where it cannot be kept it is taken off.
func keepConstraint(s *subject, g *group, r filters.Reason) []proposal {
	expressions, err := constraints.Parse(g.waiting.Task().Spec.Placement.Constraints)
	if err != nil {
		return nil
	}
	nodes := make([]*api.Node, len(g.waiting.Rows))
	for i, row := range g.waiting.Rows {
		nodes[i] = row.Node.Node
	}
	x := constraints.Explain(expressions, constraints.NewTable(nodes))
	i := slices.IndexFunc(x.Findings, func(f constraints.Finding) bool { return f.Text == r.What })
	var found []proposal
	for _, meant := range x.Findings[i].Suggestions {
		if slices.ContainsFunc(g.rows, func(row filters.Row) bool { return meant.Expression.Matches(row.Node.Node) }) {
			found = append(found, noted(s.replaceConstraint(r.What, meant.Text), meant.Because)...)
		}
	}
	found = append(found, s.label(g, x.Findings[i])...)
	found = append(found, unlabel(g, x, x.Findings[i])...)
	found = append(found, s.role(g, x.Findings[i])...)
	if s.loosen {
		found = append(found, s.takeOff(x, x.Findings[i])...)
	}
	return found
}

// replaceConstraint writes one constraint in the place of another; an empty one takes it off.
func (s *subject) replaceConstraint(old, with string) []proposal {
	if s.service == nil || s.service.Spec.Task.Placement == nil {
		return nil // the constraint is one of a former spec
	}
	flags := []string{flag("--constraint-rm", old)}
	if with != "" {
		flags = append(flags, flag("--constraint-add", with))
	}
	change := func(spec *api.ServiceSpec) {
		placement := spec.Task.Placement
		placement.Constraints = slices.DeleteFunc(slices.Clone(placement.Constraints), func(c string) bool { return c == old })
		if with != "" {
			placement.Constraints = append(placement.Constraints, with)
		}
	}
	p := s.updateService(change, flags...)
	if len(p) == 0 {
		return nil
	}
	after := s.service.Spec.Copy()
	change(after)
	return s.inStack(p, "deploy.placement.constraints", flow(after.Task.Placement.Constraints))
}

// label gives nodes that meet the other constraints what one asks for: those first that have it in another spelling, then those
// that have nothing there.
func (s *subject) label(g *group, f constraints.Finding) []proposal {
	text := f.Key.Text
	if !f.Key.Known() && len(f.Suggestions) == 0 {
		text = f.Key.Proper()
	}
	prefix, key := constraints.SplitLabel(text)
	if prefix == "" || !f.Equal || f.IsPattern() {
		return nil
	}
	rows := slices.Clone(g.rows)
	read := constraints.ParseKey(prefix + key)
	unlike := func(row filters.Row) int { // the less the likelier it was meant
		switch {
		case slices.ContainsFunc(f.Suggestions, func(meant constraints.Suggestion) bool { return meant.Expression.Matches(row.Node.Node) }):
			return 0
		case read.Value(row.Node.Node) == "":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(rows, func(a, b filters.Row) int { return cmp.Compare(unlike(a), unlike(b)) })
	var found []proposal
	for _, row := range rows[:min(len(rows), enough)] {
		if prefix == constraint.EngineLabelPrefix {
			found = append(found, engineLabel(row.Node, key, f.Value))
			continue
		}
		p := nodeLabel(row.Node, key, f.Value, read.Value(row.Node.Node))
		if !f.Key.Known() { // the constraint has to name the label properly, too
			corrected := s.replaceConstraint(f.Text, prefix+key+"=="+f.Value)
			if len(corrected) == 0 {
				continue
			}
			p = combine([]proposal{p, corrected[0]})
		}
		found = append(found, p)
	}
	return found
}

func nodeLabel(n *filters.Node, key, value, was string) proposal {
	id := n.ID
	p := proposal{
		commands: []command{updateNode(n, flag("--label-add", key+"="+value))},
		change: func(d *Draft) {
			labels := &d.Node(id).Spec.Annotations.Labels
			if *labels == nil {
				*labels = map[string]string{}
			}
			(*labels)[key] = value
		},
		note: fmt.Sprintf("only if it is true of %s", n.Name),
	}
	if was != "" {
		p.note += fmt.Sprintf(", whose label %s is %s now", key, was)
	}
	return p
}

// engineLabel is in the configuration of the node's engine.
func engineLabel(n *filters.Node, key, value string) proposal {
	return reloads(n, fmt.Sprintf("first add %q to", key+"="+value), "is true")
}

// reloads has an engine read its labels again, which it does when it is told to.
func reloads(n *filters.Node, first, ifIt string) proposal {
	return proposal{
		commands: []command{{verb: "systemctl reload docker"}}, at: n.Name,
		note: fmt.Sprintf(`%s "labels" in /etc/docker/daemon.json there, only if it %s of %s; the managers see it within half a minute`, first, ifIt, n.Name),
	}
}

// unlabel takes a label off nodes that meet the other constraints, where one asks for it to be another or none: what is true of
// the node instead nobody but its owner knows.
func unlabel(g *group, x constraints.Explanation, f constraints.Finding) []proposal {
	if _, contradicted := contradiction(x, f); contradicted || !f.Key.Known() || f.Equal {
		return nil
	}
	prefix, key := constraints.SplitLabel(f.Key.Text)
	var found []proposal
	for _, row := range g.nearest() {
		was := f.Key.Value(row.Node.Node)
		switch prefix {
		case constraint.NodeLabelPrefix:
			found = append(found, noNodeLabel(row.Node, key, was))
		case constraint.EngineLabelPrefix:
			found = append(found, reloads(row.Node, fmt.Sprintf("first take %q out of", key+"="+was), "is no longer true"))
		}
	}
	return found
}

func noNodeLabel(n *filters.Node, key, was string) proposal {
	id := n.ID
	return proposal{
		commands: []command{updateNode(n, flag("--label-rm", key))},
		change:   func(d *Draft) { delete(d.Node(id).Spec.Annotations.Labels, key) },
		note:     fmt.Sprintf("only if it is no longer true of %s that %s is %s; what is true instead can be set with --label-add", n.Name, key, was),
	}
}

// takeOff removes a constraint that cannot be kept: another one contradicts it, or what it looks at is no label, and none
// of the nodes has it or anything near.
func (s *subject) takeOff(x constraints.Explanation, f constraints.Finding) []proposal {
	if pair, is := contradiction(x, f); is {
		return noted(s.replaceConstraint(f.Text, ""), fmt.Sprintf("%s and %s cannot both be kept (%s): take off the one that is not meant",
			pair.A.Text, pair.B.Text, pair.Why))
	}
	if s.untried && len(f.Matches) > 0 {
		return nil // that the nodes which meet it cannot be used is not shown
	}
	lower := strings.ToLower(f.Key.Text)
	if strings.HasPrefix(lower, constraint.NodeLabelPrefix) || strings.HasPrefix(lower, constraint.EngineLabelPrefix) || len(f.Suggestions) > 0 {
		return nil
	}
	note := fmt.Sprintf("%s cannot be kept: no node that is left meets it, and what it asks for cannot be set on one", f.Text)
	if _, asks := roleFor(f); asks {
		note = fmt.Sprintf("%s is met by no node that is left; a node that joins with that role would meet it, too", f.Text)
	}
	return noted(s.replaceConstraint(f.Text, ""), note)
}

// contradiction is the first pair of constraints of which one contradicts the other that this one is in.
func contradiction(x constraints.Explanation, f constraints.Finding) (pair constraints.Pair, is bool) {
	i := slices.IndexFunc(x.Contradictions, func(c constraints.Pair) bool { return c.A.Text == f.Text || c.B.Text == f.Text })
	if i < 0 {
		return pair, false
	}
	return x.Contradictions[i], true
}
