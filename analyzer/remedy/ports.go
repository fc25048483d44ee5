package remedy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.HostPort, otherPort)

// otherPort publishes the ports that are taken under the next numbers that nothing in the swarm uses.
func otherPort(s *subject, g *group, _ filters.Reason) []proposal {
	if s.service == nil || s.service.Spec.Endpoint == nil {
		return nil
	}
	var set []proposal
	after := s.service.Spec.Copy()
	for port := range filters.HostPorts(g.waiting.Task()) {
		taken := slices.ContainsFunc(g.rows, func(row filters.Row) bool { return len(row.Node.PortHolders(g.waiting.Task(), port)) > 0 })
		free := s.freePort(port)
		if !taken || free == 0 || s.ambiguous(port) {
			continue
		}
		old, with := *port, *port
		with.PublishedPort = free
		p := s.updateService(func(spec *api.ServiceSpec) { republish(spec, old, free) },
			flag("--publish-rm", published(old)), flag("--publish-add", published(with)))
		republish(after, old, free)
		set = append(set, noted(p, fmt.Sprintf("clients have to ask for port %d instead of %d", free, old.PublishedPort))...)
	}
	if len(set) == 0 {
		return nil
	}
	return s.inStack([]proposal{combine(set)}, "ports", composePorts(after))
}

// composePorts writes all published ports of a service as a stack's file does.
func composePorts(spec *api.ServiceSpec) string {
	type port struct {
		Target    uint32 `json:"target"`
		Published uint32 `json:"published,omitempty"` // none where Swarm chooses
		Protocol  string `json:"protocol"`
		Mode      string `json:"mode"`
	}
	all := []port{}
	for _, p := range spec.Endpoint.Ports {
		all = append(all, port{p.TargetPort, p.PublishedPort, protocol(*p), strings.ToLower(p.PublishMode.String())})
	}
	return flow(all)
}

// freePort is the next port that no service publishes in any way; zero where there is none.
func (s *subject) freePort(port *api.PortConfig) uint32 {
	used := map[uint32]bool{}
	for other := range s.state.Services() {
		for _, p := range slices.Concat(portsOf(&other.Spec), givenPorts(other)) {
			used[p.PublishedPort] = used[p.PublishedPort] || p.Protocol == port.Protocol
		}
	}
	for _, n := range s.cluster.Nodes() {
		for _, p := range n.TakenPorts() {
			used[p.PublishedPort] = used[p.PublishedPort] || p.Protocol == port.Protocol
		}
	}
	for next := port.PublishedPort + 1; next < 1<<16; next++ {
		if !used[next] {
			return next
		}
	}
	return 0
}

// ambiguous tells whether docker, which removes a published port by its target, would remove another one, too.
func (s *subject) ambiguous(port *api.PortConfig) bool {
	same := 0
	for _, p := range s.service.Spec.Endpoint.Ports {
		if p.TargetPort == port.TargetPort && p.Protocol == port.Protocol && p.PublishMode == port.PublishMode {
			same++
		}
	}
	return same != 1
}

// republish changes the number under which a port is published.
func republish(spec *api.ServiceSpec, old api.PortConfig, to uint32) {
	if spec.Endpoint == nil {
		return
	}
	for i, p := range spec.Endpoint.Ports {
		if p.TargetPort == old.TargetPort && p.Protocol == old.Protocol && p.PublishMode == old.PublishMode {
			changed := *p
			changed.PublishedPort = to
			spec.Endpoint.Ports[i] = &changed
		}
	}
}

// published writes a port as docker reads it (docker/cli opts/swarmopts.PortOpt).
func published(p api.PortConfig) string {
	return fmt.Sprintf("published=%d,target=%d,protocol=%s,mode=host", p.PublishedPort, p.TargetPort, protocol(p))
}

func protocol(p api.PortConfig) string { return strings.ToLower(p.Protocol.String()) }

// givenPorts are the ports that a service was given, by Swarm's choice too.
func givenPorts(s *api.Service) []*api.PortConfig {
	if s.Endpoint == nil {
		return nil
	}
	return s.Endpoint.Ports
}
