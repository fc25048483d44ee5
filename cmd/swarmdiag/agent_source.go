package main

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/engine"
	"github.com/swarmdiag/swarmdiag/collector/watch"
)

// Where the agent and commands that look once find an engine that nobody named: in the host's /run as the documented service mounts it, then in its own.
var (
	controlSockets = []string{"/host/run/docker/swarm/control.sock", "/run/docker/swarm/control.sock"}
	engineSockets  = []string{"/host/run/docker.sock", "/run/docker.sock", "/var/run/docker.sock"}
)

// noSocket is the value of --control-socket that leaves the control socket alone.
const noSocket = "none"

// source reads the control socket where there is one, else the Engine API. It chooses anew at each connection: a node
// that is promoted gets a control socket, and loses it when it is demoted.
type source struct {
	socket  string // set by the operator, or empty
	engine  *engine.Client
	polling time.Duration
	name    atomic.Value // string: the kind of the source in use
	worker  atomic.Bool  // the node is a worker: there is no state to read
}

// roleCheck is how often a worker looks whether it has become a manager.
const roleCheck = 10 * time.Second

// Follow implements collector.Source. On a worker it waits until the node is promoted.
func (s *source) Follow(ctx context.Context, store *collector.Store, live func()) error {
	for {
		err := s.followOnce(ctx, store, live)
		if s.worker.Store(errors.Is(err, engine.ErrWorker)); !s.worker.Load() {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(roleCheck):
		}
	}
}

func (s *source) followOnce(ctx context.Context, store *collector.Store, live func()) error {
	if socket := s.controlSocket(); socket != "" {
		s.name.Store("watch")
		return watch.New(socket).Follow(ctx, store, live)
	}
	s.name.Store("engine")
	return engine.New(s.engine, s.polling).Follow(ctx, store, live)
}

// controlSocket is the socket to read, empty where the Engine API is to be polled.
func (s *source) controlSocket() string {
	switch s.socket {
	case noSocket:
		return ""
	case "":
		return firstSocket(controlSockets)
	}
	return s.socket
}

// Name is the kind of the source in use.
func (s *source) Name() string {
	name, _ := s.name.Load().(string)
	return name
}

func firstSocket(paths []string) string {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			return path
		}
	}
	return ""
}
