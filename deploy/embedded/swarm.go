// Package embedded runs a whole Docker Swarm inside one process, for the demo and for tests: swarmkit's own manager (store,
// raft, allocator, orchestrators, scheduler, dispatcher, control socket) with dockerd's network allocator, and nodes that only
// pretend to run containers. It plants healthy services and one stuck service for every way the scheduler can refuse a task.
//
// Two schedulers in one process share swarmkit's filters and race, so whoever also runs swarmkit's scheduler or its
// pipeline runs this package in a process of its own.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/docker/docker/libnetwork/cnmallocator"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/node"
	"google.golang.org/grpc"
)

const (
	// startLimit bounds the time from the first node's start until everything planted is as it should be.
	startLimit = 30 * time.Second
	// nodeLimit bounds the start of one node, which takes a tenth of a second.
	nodeLimit = 10 * time.Second
	// stopLimit bounds the stop of one node.
	stopLimit = 10 * time.Second
	// maxSocketPath is what Linux takes (unix(7), sun_path less its final zero), in bytes.
	maxSocketPath = 107
)

// Run starts the swarm with its state and sockets below dir, which must exist and be empty, plants the services and calls
// ready with the path of the manager's control socket once all that should run runs and all that should be stuck is stuck.
// It lives until ctx is done, stops every node and returns nil. Where ctx ends before ready, a node ends by itself, or something
// planted does not come out as it should, it stops the swarm and returns why. The files below dir are left to the caller.
//
// swarmkit logs to logrus's standard logger, at the level that the process has given it. Every node is waited for, but swarmkit's
// manager does not stop its CSI manager (manager.Manager.Stop, v2.0.0): that one's goroutines end with the process.
func Run(ctx context.Context, dir string, ready func(socket string) error) (err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("resolve directory of the embedded swarm: %w", err)
	}
	c := &cluster{dir: dir, ended: make(chan error, len(machines()))}
	// The nodes do not end with ctx but one after the other, by stop.
	c.running, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer dropExpectedErrors()()
	defer func() { err = errors.Join(err, c.stop()) }()

	if err := c.start(ctx); err != nil {
		return err
	}
	if err := ready(c.socket()); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.ended:
		return err
	}
}

// cluster is one running swarm. Its methods are called by one goroutine.
type cluster struct {
	dir     string
	driver  *csiDriver
	conn    *grpc.ClientConn
	control api.ControlClient
	nodes   []*node.Node // in order of their start, the manager first

	running  context.Context // the nodes', done when all have been stopped
	cancel   context.CancelFunc
	watchers sync.WaitGroup // one goroutine a node, until it has ended
	ended    chan error     // from the watchers, room for all
}

// socket returns the path of the manager's control socket.
func (c *cluster) socket() string { return filepath.Join(c.dir, "control.sock") }

// start brings up the nodes and everything that is planted, and returns once it is all as it should be.
func (c *cluster) start(ctx context.Context) error {
	if n := len(c.socket()); n > maxSocketPath {
		return fmt.Errorf("the control socket %s would have a path of %d bytes, more than the %d of a unix socket", c.socket(), n, maxSocketPath)
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()

	driver, err := startCSIDriver(filepath.Join(c.dir, "csi.sock"))
	if err != nil {
		return err
	}
	c.driver = driver

	all := machines()
	if err := c.startManager(ctx, all[0]); err != nil {
		return err
	}
	if err := c.startWorkers(ctx, all[1:]); err != nil {
		return err
	}
	if err := c.configureNodes(ctx, all); err != nil {
		return err
	}
	return c.plant(ctx)
}

// startManager starts the first node and connects to its control socket.
func (c *cluster) startManager(ctx context.Context, m machine) error {
	err := c.startNode(ctx, m, &node.Config{
		ListenControlAPI: c.socket(),
		ListenRemoteAPI:  "127.0.0.1:0",
		NetworkProvider:  cnmallocator.NewProvider(nil),
		PluginGetter:     c.driver,
		ElectionTick:     10,
		HeartbeatTick:    1,
	})
	if err != nil {
		return err
	}
	c.conn, err = dialControl(c.socket())
	if err != nil {
		return err
	}
	c.control = api.NewControlClient(c.conn)
	return nil
}

// startWorkers joins the machines to the manager, with its address and token as `docker swarm join` does.
func (c *cluster) startWorkers(ctx context.Context, workers []machine) error {
	addr, err := c.nodes[0].RemoteAPIAddr()
	if err != nil {
		return fmt.Errorf("read the manager's address: %w", err)
	}
	token, err := workerToken(ctx, c.control)
	if err != nil {
		return err
	}
	for _, m := range workers {
		if err := c.startNode(ctx, m, &node.Config{JoinAddr: addr, JoinToken: token}); err != nil {
			return err
		}
	}
	return nil
}

// startNode starts one node with what config leaves open filled in, and waits until it is ready, even where ctx ends meanwhile:
// swarmkit leaves goroutines behind of a node that is stopped before it is ready (node, Node.run).
func (c *cluster) startNode(ctx context.Context, m machine, config *node.Config) error {
	config.Hostname = m.hostname
	config.StateDir = filepath.Join(c.dir, m.hostname)
	config.Executor = m
	n, err := node.New(config)
	if err != nil {
		return fmt.Errorf("create %s: %w", m.hostname, err)
	}
	if err := n.Start(c.running); err != nil {
		return fmt.Errorf("start %s: %w", m.hostname, err)
	}
	c.nodes = append(c.nodes, n)

	failed := make(chan error, 1)
	c.watchers.Go(func() {
		err := fmt.Errorf("%s ended: %w", m.hostname, cause(n.Err(c.running)))
		failed <- err
		c.ended <- err
	})
	late := time.NewTimer(nodeLimit)
	defer late.Stop()
	select {
	case <-n.Ready():
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("start of the nodes ends with %s: %w", m.hostname, err)
		}
		return nil
	case err := <-failed:
		return err
	case <-late.C:
		return fmt.Errorf("%s is not ready after %v", m.hostname, nodeLimit)
	}
}

// cause gives a node that ended without an error a reason that can be wrapped.
func cause(err error) error {
	if err == nil {
		return errors.New("stopped")
	}
	return err
}

// stop ends what start began: the workers, the manager, then the CSI driver, and waits for each.
func (c *cluster) stop() error {
	var failed []error
	if c.conn != nil {
		failed = append(failed, c.conn.Close())
	}
	for _, n := range slices.Backward(c.nodes) {
		failed = append(failed, stopNode(c.running, n))
	}
	c.cancel()
	c.watchers.Wait()
	if c.driver != nil {
		c.driver.stop()
	}
	return errors.Join(failed...)
}

// stopNode stops one node in an orderly way: its agent leaves, then its manager, if it has one, hands over.
func stopNode(ctx context.Context, n *node.Node) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		return fmt.Errorf("stop node %s: %w", n.NodeID(), err)
	}
	return nil
}
