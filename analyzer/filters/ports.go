package filters

import (
	"iter"

	"github.com/moby/swarmkit/v2/api"
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

// PortHolders returns the tasks that hold a published port on the node.
func (n *Node) PortHolders(p *api.PortConfig) []*api.Task {
	return n.ports[hostPort{p.Protocol, p.PublishedPort}]
}

// judgePorts is HostPortFilter.Check of manager/scheduler on our own bookkeeping: swarmkit's is not exported.
func judgePorts(t *api.Task, n *Node) Verdict {
	verdict := Skip
	for port := range hostPorts(t) {
		if len(n.ports[port]) > 0 {
			return Fail
		}
		verdict = Pass
	}
	return verdict
}
