package filters

import (
	"github.com/moby/swarmkit/v2/api"
)

// Available returns what no task has reserved on the node; amounts are negative where more is reserved than there is.
func (n *Node) Available() *api.Resources { return n.info.AvailableResources.Copy() }

// Active returns how many tasks the scheduler counts on the node when it spreads them: those that are to run.
func (n *Node) Active() int { return n.info.ActiveTasksCount }

// TakenPorts returns the host-mode ports that tasks hold on the node, in no order.
func (n *Node) TakenPorts() []*api.PortConfig {
	taken := make([]*api.PortConfig, 0, len(n.ports))
	for port := range n.ports {
		taken = append(taken, &api.PortConfig{Protocol: port.protocol, PublishedPort: port.port, PublishMode: api.PublishModeHost})
	}
	return taken
}
