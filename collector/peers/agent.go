package peers

import (
	"net"
	"strconv"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// Agent is where the agent of a node answers.
type Agent struct {
	Node string
	// Addr is host and port.
	Addr string
}

// Agents returns where the agents of all other nodes answer, of managers or of workers: at the nodes' addresses in the state, by
// node id. port is the host-mode port that all agents share. A node without an address is left out.
func Agents(state *collector.State, self string, port uint16, managers bool) []Agent {
	var agents []Agent
	for n := range state.Nodes() {
		if isManager(n) != managers {
			continue
		}
		host := hostOf(n)
		if n.ID == self || host == "" {
			continue
		}
		agents = append(agents, Agent{
			Node: n.ID, Addr: net.JoinHostPort(host, strconv.Itoa(int(port))),
		})
	}
	return agents
}

// StandingOf returns what the state says of the agent's own node: manager and leader. It is fresh where the caller says so.
func StandingOf(state *collector.State, self string, fresh bool) Standing {
	standing := Standing{Node: self, Fresh: fresh}
	if n := state.Node(self); n != nil {
		standing.Manager = isManager(n)
		standing.Leader = n.ManagerStatus != nil && n.ManagerStatus.Leader
	}
	return standing
}

func isManager(n *api.Node) bool { return n.ManagerStatus != nil || n.Role == api.NodeRoleManager }

// hostOf is the address that the node advertises to the managers, else the one they saw it come from. A manager
// that listens on all addresses is seen as 0.0.0.0 by itself, which leads nowhere.
func hostOf(n *api.Node) string {
	candidates := []string{n.Status.Addr}
	if n.ManagerStatus != nil {
		if host, _, err := net.SplitHostPort(n.ManagerStatus.Addr); err == nil {
			candidates = []string{host, n.Status.Addr}
		}
	}
	for _, host := range candidates {
		if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
			continue
		}
		if host != "" {
			return host
		}
	}
	return ""
}
