package constraints

import (
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"
)

// kind is what a key names.
type kind int

const (
	unknown kind = iota
	id
	hostname
	address
	role
	platformOS
	platformArch
	nodeLabel
	engineLabel
)

// attributes are the keys that name no label (manager/constraint.NodeMatches).
var attributes = []struct {
	name string
	kind kind
}{
	{"node.id", id},
	{"node.hostname", hostname},
	{"node.ip", address},
	{"node.role", role},
	{"node.platform.os", platformOS},
	{"node.platform.arch", platformArch},
}

// Key is what an expression looks at. Two keys of the same kind and label look at the same.
type Key struct {
	// Text is the key as it was written.
	Text string

	kind  kind
	label string // of a node or engine label: case-sensitive, unlike the rest of the key
}

// ParseKey reads a key as manager/constraint.NodeMatches does.
func ParseKey(text string) Key {
	for _, a := range attributes {
		if strings.EqualFold(text, a.name) {
			return Key{Text: text, kind: a.kind}
		}
	}
	switch prefix, label := SplitLabel(text); prefix {
	case constraint.NodeLabelPrefix:
		return Key{Text: text, kind: nodeLabel, label: label}
	case constraint.EngineLabelPrefix:
		return Key{Text: text, kind: engineLabel, label: label}
	}
	return Key{Text: text}
}

// SplitLabel cuts node.labels.zone, its prefix in any case, into node.labels. and zone, and likewise a label of an engine
// (manager/constraint.NodeMatches). Both parts are empty for anything that names no label.
func SplitLabel(text string) (prefix, label string) {
	for _, prefix := range []string{constraint.NodeLabelPrefix, constraint.EngineLabelPrefix} {
		if len(text) > len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			return prefix, text[len(prefix):]
		}
	}
	return "", ""
}

// Known tells whether Swarm knows the key.
func (k Key) Known() bool { return k.kind != unknown }

func (k Key) looksAtSame(other Key) bool {
	return k.Known() && k.kind == other.kind && k.label == other.label
}

// isLike tells whether two keys name labels that differ in their case or their kind only.
func (k Key) isLike(other Key) bool {
	return k.label != "" && strings.EqualFold(k.label, other.label)
}

// identifies tells whether the key names one node, in one of the three ways that there are.
func (k Key) identifies() bool { return k.kind == id || k.kind == hostname || k.kind == address }

// Name is what the key names, in few words: a node label by its own name.
func (k Key) Name() string {
	switch k.kind {
	case nodeLabel:
		return k.label
	case engineLabel:
		return "engine label " + k.label
	case unknown:
		return k.Text
	}
	return strings.ToLower(k.Text)
}

// Value is what the node has there: empty where it has nothing, which swarmkit takes for an empty value.
func (k Key) Value(n *api.Node) string {
	switch k.kind {
	case id:
		return n.ID
	case address:
		return n.Status.Addr
	case role:
		return strings.ToLower(n.Role.String())
	case nodeLabel:
		return n.Spec.Annotations.Labels[k.label]
	case unknown:
		return ""
	}
	return k.described(n.Description)
}

func (k Key) described(d *api.NodeDescription) string {
	switch {
	case d == nil:
	case k.kind == hostname:
		return d.Hostname
	case k.kind == engineLabel && d.Engine != nil:
		return d.Engine.Labels[k.label]
	case k.kind == platformOS && d.Platform != nil:
		return d.Platform.OS
	case k.kind == platformArch && d.Platform != nil:
		return d.Platform.Architecture
	}
	return ""
}

// Template is the Go template that makes docker node inspect print what the key names; empty for an unknown key.
// The managers show a node's real role only by its manager status: Spec.Role is the desired one.
func (k Key) Template() string {
	switch k.kind {
	case id:
		return "{{.ID}}"
	case hostname:
		return "{{.Description.Hostname}}"
	case address:
		return "{{.Status.Addr}}"
	case role:
		return "{{if .ManagerStatus}}manager{{else}}worker{{end}}"
	case platformOS:
		return "{{.Description.Platform.OS}}"
	case platformArch:
		return "{{.Description.Platform.Architecture}}"
	case nodeLabel:
		return `{{index .Spec.Labels "` + k.label + `"}}`
	case engineLabel:
		return `{{index .Description.Engine.Labels "` + k.label + `"}}`
	}
	return ""
}
