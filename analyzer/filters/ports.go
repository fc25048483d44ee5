package filters

import (
	"iter"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// hostPort is a port that a task takes on its node (manager/scheduler.hostPortSpec).
type hostPort struct {
	protocol api.PortConfig_Protocol
	port     uint32
}

// hostPorts yields the ports that a task publishes in host mode.
func hostPorts(t *api.Task) iter.Seq[hostPort] {
	return func(yield func(hostPort) bool) {
		for p := range HostPorts(t) {
			if !yield(hostPort{p.Protocol, p.PublishedPort}) {
				return
			}
		}
	}
}

// HostPorts yields the ports that a task publishes in host mode under a number it chose.
func HostPorts(t *api.Task) iter.Seq[*api.PortConfig] {
	return func(yield func(*api.PortConfig) bool) {
		if t.Endpoint == nil {
			return
		}
		for _, p := range t.Endpoint.Ports {
			if p.PublishMode == api.PublishModeHost && p.PublishedPort != 0 && !yield(p) {
				return
			}
		}
	}
}

// PortHolders returns the tasks that hold a published port of the task on the node.
func (n *Node) PortHolders(t *api.Task, p *api.PortConfig) []*api.Task {
	held := n.ports[hostPort{p.Protocol, p.PublishedPort}]
	if len(held) == 0 && saysTaken(t) {
		return n.portless
	}
	return held
}

// judgePorts is HostPortFilter.Check of manager/scheduler on our own bookkeeping: swarmkit's is not exported.
func judgePorts(t *api.Task, n *Node) Verdict {
	verdict := Skip
	for port := range HostPorts(t) {
		if len(n.PortHolders(t, port)) > 0 {
			return Fail
		}
		verdict = Pass
	}
	return verdict
}

// saysTaken tells whether the scheduler found the task's port taken (manager/scheduler.HostPortFilter.Explain).
func saysTaken(t *api.Task) bool {
	return strings.Contains(t.Status.Err, "host-mode port already in use")
}

// hidesPorts tells whether the state's source does not show which ports a task was given.
func hidesPorts(state *collector.State) bool {
	return slices.ContainsFunc(state.Hides, func(g collector.Gap) bool { return g.What == "task.endpoint" })
}
