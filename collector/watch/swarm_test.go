package watch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/agent/exec"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/allocator/networkallocator"
	"github.com/moby/swarmkit/v2/node"
	"github.com/sirupsen/logrus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/swarmdiag/swarmdiag/collector"
)

func TestMain(m *testing.M) {
	logrus.SetOutput(io.Discard) // swarmkit and gRPC tell every step of theirs
	if dir := os.Getenv(apart); dir != "" {
		runApart(dir)
		return
	}
	m.Run()
}

// patience is how long a test waits for what must come; it fails after that, it never sleeps it through.
const patience = 20 * time.Second

// manager is a whole manager of swarmkit in this process, without Docker and with pretend containers.
type manager struct {
	socket string
	config node.Config
	node   *node.Node
}

// startManager runs a manager until the test ends; change may alter its configuration.
func startManager(t *testing.T, change func(*node.Config)) *manager {
	t.Helper()
	m := &manager{config: configIn(shortDir(t))}
	m.socket = m.config.ListenControlAPI
	if change != nil {
		change(&m.config)
	}
	m.start(t)
	t.Cleanup(func() { m.stop(t) })
	return m
}

func configIn(dir string) node.Config {
	return node.Config{
		Hostname: "manager", StateDir: filepath.Join(dir, "state"), ListenControlAPI: filepath.Join(dir, "swarm", "control.sock"),
		ListenRemoteAPI: "127.0.0.1:0", Executor: pretend{}, NetworkProvider: networkallocator.InertProvider{}, ElectionTick: 3, HeartbeatTick: 1,
	}
}

// start runs the manager, again if it was stopped, from what it has on disk.
func (m *manager) start(t *testing.T) {
	t.Helper()
	config := m.config
	var err error
	if m.node, err = node.New(&config); err != nil {
		t.Fatalf("make node: %v", err)
	}
	if err := m.node.Start(context.Background()); err != nil {
		t.Fatalf("start node: %v", err)
	}
	select {
	case <-m.node.Ready():
	case <-time.After(patience):
		t.Fatal("the node is not ready in time")
	}
}

func (m *manager) stop(t *testing.T) {
	t.Helper()
	if m.node == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.node.Stop(ctx); err != nil {
		t.Errorf("stop node: %v", err)
	}
	m.node = nil
}

// control is a client that may write: what a test does to the swarm goes through it, not through the code under test.
func (m *manager) control(t *testing.T) api.ControlClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+m.socket, grpc.WithContextDialer(dialSocket),
		grpc.WithTransportCredentials(credentials.NewTLS(transport.Clone())))
	if err != nil {
		t.Fatalf("connect to %s: %v", m.socket, err)
	}
	t.Cleanup(func() { conn.Close() })
	return api.NewControlClient(conn)
}

// shortDir is a directory whose sockets fit the 108 bytes of a unix address, which t.TempDir does not promise.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "watch")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// pretend is an executor whose containers run until they are stopped, or fail at once where the image is "fails".
type pretend struct{}

func (pretend) Describe(context.Context) (*api.NodeDescription, error) {
	return &api.NodeDescription{
		Hostname:  "manager",
		Platform:  &api.Platform{Architecture: "x86_64", OS: "linux"},
		Resources: &api.Resources{NanoCPUs: 4e9, MemoryBytes: 8 << 30},
	}, nil
}
func (pretend) Configure(context.Context, *api.Node) error         { return nil }
func (pretend) SetNetworkBootstrapKeys([]*api.EncryptionKey) error { return nil }
func (pretend) Controller(task *api.Task) (exec.Controller, error) {
	c := &container{stopped: make(chan struct{})}
	if task.Spec.GetContainer().Image == "fails" {
		c.start = errors.New("no such program")
	}
	return c, nil
}

type container struct {
	start   error
	once    sync.Once
	stopped chan struct{}
}

func (c *container) Update(context.Context, *api.Task) error { return nil }
func (c *container) Prepare(context.Context) error           { return nil }
func (c *container) Start(context.Context) error             { return c.start }
func (c *container) Shutdown(context.Context) error {
	c.once.Do(func() { close(c.stopped) })
	return nil
}
func (c *container) Terminate(ctx context.Context) error { return c.Shutdown(ctx) }
func (c *container) Remove(context.Context) error        { return nil }
func (c *container) Close() error                        { return nil }
func (c *container) Wait(ctx context.Context) error {
	select {
	case <-c.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func replicated(name, image string, replicas uint64) *api.ServiceSpec {
	return &api.ServiceSpec{
		Annotations: api.Annotations{Name: name},
		Task:        api.TaskSpec{Runtime: &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: image}}},
		Mode:        &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: replicas}},
	}
}

func create(t *testing.T, control api.ControlClient, spec *api.ServiceSpec) *api.Service {
	t.Helper()
	answer, err := control.CreateService(t.Context(), &api.CreateServiceRequest{Spec: spec})
	if err != nil {
		t.Fatalf("create service %s: %v", spec.Annotations.Name, err)
	}
	return answer.Service
}

// labelNode labels the only node; it tries again when the node was changed in between.
func labelNode(t *testing.T, control api.ControlClient, key, value string) {
	t.Helper()
	for {
		answer, err := control.ListNodes(t.Context(), &api.ListNodesRequest{})
		if err != nil {
			t.Fatalf("list nodes: %v", err)
		}
		n := answer.Nodes[0]
		n.Spec.Annotations.Labels = map[string]string{key: value}
		_, err = control.UpdateNode(t.Context(), &api.UpdateNodeRequest{NodeID: n.ID, NodeVersion: &n.Meta.Version, Spec: &n.Spec})
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "out of sequence") {
			t.Fatalf("update node: %v", err)
		}
	}
}

func running(state *collector.State, serviceID string) int {
	n := 0
	for task := range state.TasksOf(serviceID) {
		if task.Status.State == api.TaskStateRunning {
			n++
		}
	}
	return n
}
