package engine

import (
	"context"
	"net"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
)

// Self is what an engine says of its own place in the swarm.
type Self struct {
	// Node is the id of the engine's node.
	Node string
	// Manager tells whether the node is a manager.
	Manager bool
	// Managers are the managers that the node knows: host by node id.
	Managers map[string]string
}

// Self asks the engine for its place in the swarm; it answers on workers too.
func (c *Client) Self(ctx context.Context) (Self, error) {
	info, err := within(ctx, func(ctx context.Context) (system.Info, error) { return c.api.Info(ctx) })
	if err != nil {
		return Self{}, c.explain("read the engine's place in the swarm", "/info", err)
	}
	self := Self{Node: info.Swarm.NodeID, Manager: info.Swarm.ControlAvailable, Managers: map[string]string{}}
	for _, m := range info.Swarm.RemoteManagers {
		if host, _, err := net.SplitHostPort(m.Addr); err == nil {
			self.Managers[m.NodeID] = host
		}
	}
	return self, nil
}

// DialSocket prepares a client for the engine behind a unix socket.
func DialSocket(path string) (*Client, error) { return Dial(client.WithHost("unix://" + path)) }
