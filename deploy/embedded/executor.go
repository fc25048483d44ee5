package embedded

import (
	"context"
	"sync"

	"github.com/moby/swarmkit/v2/agent/exec"
	"github.com/moby/swarmkit/v2/api"
)

// Describe implements exec.Executor: what the node tells the managers about itself.
func (m machine) Describe(context.Context) (*api.NodeDescription, error) {
	return m.description(), nil
}

// Configure implements exec.Executor. A pretend node has nothing to configure.
func (m machine) Configure(context.Context, *api.Node) error { return nil }

// SetNetworkBootstrapKeys implements exec.Executor. No network is made, so none is encrypted.
func (m machine) SetNetworkBootstrapKeys([]*api.EncryptionKey) error { return nil }

// Controller implements exec.Executor.
func (m machine) Controller(*api.Task) (exec.Controller, error) {
	return &container{stopped: make(chan struct{})}, nil
}

// container is a task's pretend container: it is prepared and started at once, and runs until it is told to stop.
type container struct {
	once    sync.Once
	stopped chan struct{}
}

// Update implements exec.Controller.
func (c *container) Update(context.Context, *api.Task) error { return nil }

// Prepare implements exec.Controller.
func (c *container) Prepare(context.Context) error { return nil }

// Start implements exec.Controller.
func (c *container) Start(context.Context) error { return nil }

// Wait implements exec.Controller: it blocks as long as the container runs.
func (c *container) Wait(ctx context.Context) error {
	select {
	case <-c.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Shutdown implements exec.Controller.
func (c *container) Shutdown(context.Context) error { return c.Close() }

// Terminate implements exec.Controller.
func (c *container) Terminate(context.Context) error { return c.Close() }

// Remove implements exec.Controller.
func (c *container) Remove(context.Context) error { return c.Close() }

// Close implements exec.Controller.
func (c *container) Close() error {
	c.once.Do(func() { close(c.stopped) })
	return nil
}
