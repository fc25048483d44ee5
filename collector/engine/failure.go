package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/swarm"
)

// What keeps an engine from telling the state of its cluster. Each error that this package returns names the engine's
// address and what to do; these tell them apart.
var (
	ErrNoEngine   = errors.New("no Docker engine answers there")
	ErrPermission = errors.New("permission denied")
	ErrOldAPI     = errors.New("the engine is too old")
	ErrRefused    = errors.New("refused")
	ErrNoSwarm    = errors.New("this engine is not part of a swarm")
	ErrNotJoined  = errors.New("this engine has not come up in its swarm")
	ErrWorker     = errors.New("this node is a worker")
	ErrLocked     = errors.New("the swarm is locked")
	ErrNoLeader   = errors.New("the managers have no leader")
)

// explain says of a failed request what is wrong and what to do. what is verb and object, endpoint the path asked.
func (c *Client) explain(what, endpoint string, err error) error {
	var unanswered *noAnswer
	switch text := err.Error(); {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w: GET %s was not answered in time", c.host, ErrNoEngine, endpoint)
	case errors.As(err, &unanswered) && errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w: run swarmdiag as root, or as a member of the group that owns the socket", c.host, ErrPermission)
	case errors.As(err, &unanswered):
		return fmt.Errorf("%s: %w (%s): is dockerd running, and is this its address?", c.host, ErrNoEngine, reason(unanswered.cause))
	case errdefs.IsPermissionDenied(err) || errdefs.IsUnauthorized(err):
		return fmt.Errorf("%s: GET %s was %w (%s): allow it in the authorisation plugin or socket proxy", c.host, endpoint, ErrRefused, text)
	case strings.Contains(text, "needs to be unlocked"):
		return c.locked()
	case strings.Contains(text, "Worker nodes can't be used"):
		return c.worker(nil)
	case strings.Contains(text, "docker swarm init"):
		return c.noSwarm()
	case strings.Contains(text, "does not have a leader") || strings.Contains(text, "DeadlineExceeded"):
		return c.noLeader(text)
	}
	return fmt.Errorf("%s: %s: %w", c.host, what, err)
}

// reason returns the innermost part of a network error that is still a sentence.
func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}

// readable tells from docker info why this engine cannot say what its cluster does, or nil.
func (c *Client) readable(s swarm.Info) error {
	switch {
	case s.LocalNodeState == swarm.LocalNodeStateInactive || s.LocalNodeState == "":
		return c.noSwarm()
	case s.LocalNodeState == swarm.LocalNodeStateLocked:
		return c.locked()
	case s.LocalNodeState != swarm.LocalNodeStateActive:
		return fmt.Errorf("%s: %w (%s): %s", c.host, ErrNotJoined, s.LocalNodeState,
			orElse(s.Error, "see what dockerd logs on this node, and docker info"))
	case !s.ControlAvailable:
		return c.worker(s.RemoteManagers)
	case s.Error != "":
		return c.noLeader(s.Error)
	}
	return nil
}

func (c *Client) noSwarm() error {
	return fmt.Errorf("%s: %w: give the address of a manager", c.host, ErrNoSwarm)
}

func (c *Client) locked() error {
	return fmt.Errorf("%s: %w: run docker swarm unlock on this manager", c.host, ErrLocked)
}

func (c *Client) worker(managers []swarm.Peer) error {
	var addresses []string
	for _, m := range managers {
		addresses = append(addresses, m.Addr)
	}
	return fmt.Errorf("%s: %w, and only managers know the state of the cluster: run this on a manager, or with a docker context of one. "+
		"The managers are at %s; the port named there is the one of the swarm itself, and no engine answers on it", c.host, ErrWorker,
		orElse(strings.Join(addresses, ", "), "the addresses that docker info names here"))
}

func (c *Client) noLeader(text string) error {
	return fmt.Errorf("%s: %w, so that nothing can be read: bring back enough of them for a majority (Docker says: %s)", c.host, ErrNoLeader, text)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
