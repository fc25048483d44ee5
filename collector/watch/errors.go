package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// explained is an error told in words of our own; its cause stays reachable for errors.Is.
type explained struct {
	words string
	cause error
}

func (e *explained) Error() string { return e.words }
func (e *explained) Unwrap() error { return e.cause }

// explainDial tells why a socket file could not be opened.
func explainDial(path string, err error) error {
	info, statErr := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &explained{"there is none: this node is no manager, its swarm is locked (docker swarm unlock) or dockerd is stopped; " +
			"in a container, mount the directory /run/docker", err}
	case errors.Is(err, fs.ErrPermission):
		return &explained{"permission denied: run as root, in a container too; " +
			"with userns-remap or SELinux enforcing add --userns=host or --security-opt label=disable", err}
	case statErr == nil && info.Mode().Type() != fs.ModeSocket:
		return &explained{"this is no socket", err}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &explained{"nobody listens: dockerd is stopped, or a mount of the file outlived a restart of dockerd; " +
			"mount the directory /run/docker instead", err}
	case errors.Is(err, context.DeadlineExceeded):
		return &explained{"it accepts no connection in time: dockerd hangs", err}
	}
	return fmt.Errorf("connect: %w", err)
}

// explainHandshake tells why a socket that accepted a connection is not a control socket.
func explainHandshake(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &explained{"it accepts a connection but does not answer in time: dockerd hangs", err}
	}
	return &explained{fmt.Sprintf("this is no control socket of a manager (%v); the Engine's docker.sock is another one", err), err}
}

// explainCall tells why a call failed, in the manager's own words where it has some.
func explainCall(doing string, err error) error {
	answer := status.Convert(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), answer.Code() == codes.DeadlineExceeded:
		return &explained{doing + ": no answer in time: the swarm has no leader, or dockerd hangs", context.DeadlineExceeded}
	case answer.Code() == codes.Unavailable, answer.Code() == codes.Canceled, errors.Is(err, io.EOF):
		return &explained{fmt.Sprintf("%s: the manager hung up (%s): dockerd was stopped, this node is no manager any more, "+
			"or the leader is out of reach", doing, answer.Message()), err}
	}
	return &explained{doing + ": " + answer.Message(), err}
}
