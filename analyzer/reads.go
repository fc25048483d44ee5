package analyzer

import (
	"maps"
	"reflect"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Reads is what of the nodes, and of what waits, a rule goes by. Where nothing of that changes, what it said still holds.
type Reads uint8

// What there is to read.
const (
	// Keys is what constraints ask of a node: its id, hostname, role, address, platform and labels.
	Keys Reads = 1 << iota
	// Platforms is the operating system and the architecture of a node.
	Platforms
	// Plugins are those that the engine of a node reports.
	Plugins
	// Standing is whether a node is ready and active, and since when it is not.
	Standing
	// Holdings is what a node has in all, and which tasks hold what of it.
	Holdings
	// Waiters are the tasks that wait alike, and how many the service should have.
	Waiters

	everything = Keys | Platforms | Plugins | Standing | Holdings | Waiters
)

// differences tells in what nodes are others than before: in everything where a service came or went that has tasks there.
func differences(before, now *filters.Cluster, nodes, orphaned map[string]bool) map[string]Reads {
	differ := map[string]Reads{}
	for id := range nodes {
		a, b := before.Node(id), now.Node(id)
		switch {
		case a == b:
		case a == nil || b == nil || a.Name != b.Name || orphaned[id]:
			differ[id] = everything
		default:
			differ[id] = difference(a, b)
		}
	}
	return differ
}

// difference tells in what a node is another one.
func difference(a, b *filters.Node) Reads {
	var d Reads
	note := func(what Reads, same bool) {
		if !same {
			d |= what
		}
	}
	note(Keys, a.Role == b.Role && a.Status.Addr == b.Status.Addr && maps.Equal(a.Spec.Annotations.Labels, b.Spec.Annotations.Labels))
	note(Standing, a.Status.State == b.Status.State && a.Status.Message == b.Status.Message && a.Spec.Availability == b.Spec.Availability &&
		(isReady(b.Node) || reflect.DeepEqual(a.Meta.UpdatedAt, b.Meta.UpdatedAt)))
	note(Holdings, a.HoldsLike(b))
	return d | described(a.Description, b.Description)
}

// described tells in what the description of a node is another one.
func described(a, b *api.NodeDescription) Reads {
	switch {
	case reflect.DeepEqual(a, b):
		return 0
	case a == nil || b == nil || a.Hostname != b.Hostname || (a.Engine == nil) != (b.Engine == nil):
		return everything
	}
	var d Reads
	if !reflect.DeepEqual(a.Platform, b.Platform) {
		d |= Platforms | Keys
	}
	if !reflect.DeepEqual(a.Resources, b.Resources) {
		d |= Holdings
	}
	if a.Engine != nil && !maps.Equal(a.Engine.Labels, b.Engine.Labels) {
		d |= Keys
	}
	if a.Engine != nil && !reflect.DeepEqual(a.Engine.Plugins, b.Engine.Plugins) {
		d |= Plugins
	}
	return d
}
