// Package testbed gives tests a real Docker Swarm on one Linux machine, each node a dockerd in namespaces of its
// own. It runs the testbed command beside it, which does the work and can as well be used by hand. It needs
// root, and leaves the machine's own Docker alone.
package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrUnavailable says that this machine cannot run a testbed: the user is not root, or a package is not to be had.
var ErrUnavailable = errors.New("no testbed on this machine")

// The Docker versions that a testbed can have. In 27 no cluster volume is ever created, whatever its driver: the leader's dockerd logs
// "plugin for driver … does not implement PluginAddr". 20.10 knows none.
const (
	Docker28 = "28.5.2"
	Docker27 = "27.5.1"
	Docker20 = "20.10"
)

// Image is in the image store of every node: deploy/testbed/demo-image, a static HTTP server on port 8080.
const Image = "demo:1"

const (
	exitUnavailable = 3                // of the command
	stopGrace       = 45 * time.Second // for the command to clean up once its context is done
)

// Options say what to bring up.
type Options struct {
	Name     string    // of the testbed, up to 30 of a-z, 0-9 and -; for ForTest up to 21
	Nodes    int       // default 3
	Managers int       // default 1; the first nodes are the managers
	Docker   string    // Docker27 (the default), Docker28 or Docker20
	Labels   []string  // engine labels, NODE:KEY=VALUE
	Generic  []string  // generic resources that a node advertises, NODE:KIND=VALUE
	Progress io.Writer // lines on what is going on; default none
}

func (o Options) arguments() []string {
	args := []string{"up", o.Name}
	if o.Nodes != 0 {
		args = append(args, "--nodes", strconv.Itoa(o.Nodes))
	}
	if o.Managers != 0 {
		args = append(args, "--managers", strconv.Itoa(o.Managers))
	}
	if o.Docker != "" {
		args = append(args, "--docker", o.Docker)
	}
	for _, label := range o.Labels {
		args = append(args, "--label", label)
	}
	for _, generic := range o.Generic {
		args = append(args, "--generic", generic)
	}
	return args
}

// Swarm is a testbed that is up. Its nodes are numbered from 1, and node-1 is their first hostname.
type Swarm struct {
	name   string
	folder string
}

// Up brings a swarm up, every node ready, and returns within seconds once the cache is warm. The first time it
// downloads packages and may build dockerd, which takes minutes. What fails is taken down again; the error is
// ErrUnavailable where the machine is the reason.
func Up(ctx context.Context, o Options) (*Swarm, error) {
	folder, err := run(ctx, o.Progress, o.arguments()...)
	if err != nil {
		return nil, fmt.Errorf("bring up testbed %s: %w", o.Name, err)
	}
	return &Swarm{name: o.Name, folder: folder}, nil
}

// Fetch brings Docker28, Docker27, Docker20, "cli", "prometheus", "ssh" or "compose" into the cache, which takes minutes the first
// time, and returns the folder of its binaries: dockerd, docker, prometheus and promtool, ssh (with ../sbin/sshd), or
// docker-compose (a Python program, whose modules are in ../lib/python3/dist-packages).
func Fetch(ctx context.Context, what string) (string, error) {
	return run(ctx, nil, "fetch", what)
}

// Down ends all of the swarm's processes and removes what it had: namespaces, cgroups, folders. It may be repeated.
func (s *Swarm) Down(ctx context.Context) error {
	_, err := run(ctx, nil, "down", s.name)
	return err
}

// Docker runs the docker command against a node's engine and returns its output without the last newline.
func (s *Swarm) Docker(ctx context.Context, node int, args ...string) (string, error) {
	return s.on(ctx, "docker", node, args...)
}

// Exec runs a command inside a node's namespaces, where /run and /var/lib/docker are the node's own, and returns
// its output without the last newline.
func (s *Swarm) Exec(ctx context.Context, node int, command ...string) (string, error) {
	return s.on(ctx, "exec", node, command...)
}

// Pause freezes a node's dockerd. Its containers run on, and the managers call it down some 15 s later.
func (s *Swarm) Pause(ctx context.Context, node int) error {
	_, err := s.on(ctx, "pause", node)
	return err
}

// Resume thaws a node's dockerd.
func (s *Swarm) Resume(ctx context.Context, node int) error {
	_, err := s.on(ctx, "resume", node)
	return err
}

// StopNode stops a node's dockerd, by force if it takes longer than 20 s, and with it all that runs on the node.
func (s *Swarm) StopNode(ctx context.Context, node int) error {
	_, err := s.on(ctx, "stop", node)
	return err
}

// StartNode starts dockerd again on a node that was stopped and returns once it answers.
func (s *Swarm) StartNode(ctx context.Context, node int) error {
	_, err := s.on(ctx, "start", node)
	return err
}

// Socket is the path of a node's Engine API socket, outside of the node.
func (s *Swarm) Socket(node int) string {
	return filepath.Join(s.folder, "n"+strconv.Itoa(node), "docker.sock")
}

// ControlSocket is the path, outside of the node, of the socket on which a manager's swarmkit serves Control and Watch.
func (s *Swarm) ControlSocket(node int) (string, error) {
	pid, err := holder(filepath.Join(s.folder, "n"+strconv.Itoa(node)))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("/proc/%d/root/run/docker/swarm/control.sock", pid), nil
}

// Address is a node's IP address in the network between the nodes.
func (s *Swarm) Address(node int) string {
	return "198.18.0." + strconv.Itoa(node)
}

func (s *Swarm) on(ctx context.Context, command string, node int, args ...string) (string, error) {
	return run(ctx, nil, append([]string{command, s.name, strconv.Itoa(node), "--"}, args...)...)
}

// holder reads which process, by its pid on this machine, holds the namespaces that belong to a folder.
func holder(folder string) (int, error) {
	text, err := os.ReadFile(filepath.Join(folder, "pid"))
	if err != nil {
		return 0, fmt.Errorf("find namespaces: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("find namespaces of %s: %w", folder, err)
	}
	return pid, nil
}

// command is the path of the testbed command. It is looked up by package, as a test's working directory varies.
var command = sync.OnceValues(func() (string, error) {
	folder, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/swarmdiag/swarmdiag/deploy/testbed").Output()
	if err != nil {
		return "", fmt.Errorf("find the testbed command: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(folder)), "testbed"), nil
})

// run runs the testbed command and returns its output without the last newline. Once ctx is done the command and
// its children are told to end, so that an unfinished up still cleans up.
func run(ctx context.Context, progress io.Writer, args ...string) (string, error) {
	path, err := command()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if progress != nil {
		cmd.Stderr = io.MultiWriter(&stderr, progress)
	}
	err = cmd.Run()
	output := strings.TrimSuffix(stdout.String(), "\n")
	if err == nil {
		return output, nil
	}
	said := strings.TrimSpace(stderr.String())
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == exitUnavailable && (args[0] == "up" || args[0] == "fetch") {
		return output, fmt.Errorf("%w: %s", ErrUnavailable, said)
	}
	return output, fmt.Errorf("testbed %s: %w: %s", strings.Join(args, " "), err, said)
}
