package constraints

import (
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"

	"github.com/swarmdiag/swarmdiag/analyzer/spelling"
)

// labels are the names of all labels that any of the nodes has.
type labels struct{ node, engine []string }

func (t *Table) labelNames() labels {
	if t.labels == nil {
		names := labelsOf(t.nodes)
		t.labels = &names
	}
	return *t.labels
}

func labelsOf(nodes []*api.Node) labels {
	node, engine := map[string]bool{}, map[string]bool{}
	for _, n := range nodes {
		for name := range n.Spec.Annotations.Labels {
			node[name] = true
		}
		if n.Description == nil || n.Description.Engine == nil {
			continue
		}
		for name := range n.Description.Engine.Labels {
			engine[name] = true
		}
	}
	return labels{slices.Sorted(maps.Keys(node)), slices.Sorted(maps.Keys(engine))}
}

// otherKeys are the keys that may have been meant.
func otherKeys(k Key, l labels) []correction {
	switch k.kind {
	case nodeLabel:
		return append(labelKeys(k.label, l, "", "it is an engine label, not a node label"), attributeKeys(k.label)...)
	case engineLabel:
		return append(labelKeys(k.label, l, "it is a node label, not an engine label", ""), attributeKeys(k.label)...)
	case id, hostname, address:
		return identities(k)
	case unknown:
		return unknownKeys(k, l)
	}
	return nil
}

// labelKeys are the labels that have this name, or nearly; onNode and onEngine say why either kind is a correction.
func labelKeys(name string, l labels, onNode, onEngine string) []correction {
	return append(labelsLike(name, constraint.NodeLabelPrefix, l.node, onNode),
		labelsLike(name, constraint.EngineLabelPrefix, l.engine, onEngine)...)
}

func labelsLike(name, prefix string, labels []string, because string) []correction {
	base := 0
	if because != "" {
		base, because = 1, because+", "
	}
	var found []correction
	for _, label := range labels {
		apart, near := spelling.Near(name, label)
		switch {
		case label == name:
			found = append(found, correction{prefix + label, strings.TrimSuffix(because, ", "), base})
		case strings.EqualFold(label, name):
			found = append(found, correction{prefix + label, because + "label keys are case-sensitive", base + 1})
		case near:
			found = append(found, correction{prefix + label, because + "the nearest label is " + label, base + 1 + apart})
		}
	}
	return found
}

// identities are the three ways to name one node: operators mistake one for another.
func identities(k Key) []correction {
	var found []correction
	for _, a := range attributes {
		if a.kind != k.kind && ParseKey(a.name).identifies() {
			found = append(found, correction{a.name, "that is a " + a.name + ", not a " + k.Name(), 1})
		}
	}
	return found
}

// unknownKeys reads a key that Swarm does not know as a label without its proper prefix, or as an attribute.
func unknownKeys(k Key, l labels) []correction {
	found := attributeKeys(k.Text)
	for cost, name := 0, k.Text; name != ""; cost++ {
		for _, c := range labelKeys(name, l, prefixed(constraint.NodeLabelPrefix), prefixed(constraint.EngineLabelPrefix)) {
			c.cost += cost
			found = append(found, c)
		}
		_, name, _ = strings.Cut(name, ".")
	}
	if proper := k.Proper(); proper != "" {
		found = append(found, correction{proper, "that is how Swarm spells it", 3})
	}
	return found
}

func prefixed(prefix string) string { return "Swarm knows labels by the prefix " + prefix }

// otherNames are what people call attributes.
var otherNames = map[string]kind{
	"name": hostname, "host": hostname, "node": hostname, "addr": address, "address": address, "architecture": platformArch,
}

// attributeKeys are the attributes that a key may have meant by its last part.
func attributeKeys(key string) []correction {
	last := strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
	var found []correction
	for _, a := range attributes {
		name := a.name[strings.LastIndexByte(a.name, '.')+1:]
		apart, near := spelling.Near(last, name)
		switch {
		case last == name || otherNames[last] == a.kind:
			found = append(found, correction{a.name, "Swarm calls it " + a.name, 1})
		case near && apart <= 2 && len(name) > 2: // of two letters one is half the word
			found = append(found, correction{a.name, "Swarm calls it " + a.name, 1 + apart})
		}
	}
	return found
}

// heads are how the prefixes of labels are written, more or less.
var heads = []struct{ head, prefix string }{
	{"node.labels", constraint.NodeLabelPrefix},
	{"engine.labels", constraint.EngineLabelPrefix},
	{"labels", constraint.NodeLabelPrefix},
	{"node", constraint.NodeLabelPrefix},
	{"engine", constraint.EngineLabelPrefix},
}

// Proper is how a key that Swarm does not know is written: as the attribute that it comes near, else as a label.
// Empty where it names none.
func (k Key) Proper() string {
	if found := attributeKeys(k.Text); len(found) > 0 {
		return slices.MinFunc(found, func(a, b correction) int { return a.cost - b.cost }).text
	}
	parts := strings.Split(strings.Trim(k.Text, "."), ".")
	for _, h := range heads {
		size := strings.Count(h.head, ".") + 1
		if len(parts) < size {
			continue
		}
		head, label := strings.Join(parts[:size], "."), strings.Join(parts[size:], ".")
		if apart, near := spelling.Near(head, h.head); !near || apart > 2 {
			continue
		}
		if label == "" {
			return ""
		}
		return h.prefix + label
	}
	return constraint.NodeLabelPrefix + k.Text
}
