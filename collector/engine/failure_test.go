package engine

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/swarmdiag/swarmdiag/collector"
)

func once(t *testing.T, c *Client) error {
	t.Helper()
	_, err := collector.Once(t.Context(), New(c, time.Hour))
	return err
}

func TestWhatAnEngineSaysOfItselfBecomesASentence(t *testing.T) {
	t.Parallel()
	const noLeader = "rpc error: code = Unknown desc = The swarm does not have a leader. It's possible that too few managers are online. Make sure more than half of the managers are online."
	for _, c := range []struct {
		name string
		info swarm.Info
		is   error
		says string
	}{
		{"no swarm", swarm.Info{LocalNodeState: "inactive"}, ErrNoSwarm, "this engine is not part of a swarm: give the address of a manager"},
		{"a locked manager", swarm.Info{LocalNodeState: "locked"}, ErrLocked, "the swarm is locked: run docker swarm unlock on this manager"},
		{"a node that is joining", swarm.Info{LocalNodeState: "pending"}, ErrNotJoined, "this engine has not come up in its swarm (pending): see what dockerd logs"},
		{"a node that cannot join", swarm.Info{LocalNodeState: "error", Error: "certificate has expired"}, ErrNotJoined, "(error): certificate has expired"},
		{"a worker", swarm.Info{LocalNodeState: "active", RemoteManagers: []swarm.Peer{{Addr: "10.0.0.1:2377"}, {Addr: "10.0.0.2:2377"}}}, ErrWorker,
			"this node is a worker, and only managers know the state of the cluster: run this on a manager, or with a docker context of one. " +
				"The managers are at 10.0.0.1:2377, 10.0.0.2:2377; the port named there is the one of the swarm itself, and no engine answers on it"},
		{"no leader", swarm.Info{LocalNodeState: "active", ControlAvailable: true, Error: noLeader}, ErrNoLeader, "the managers have no leader, so that nothing can be read"},
	} {
		r := newReplay(t, "host-port")
		body, err := json.Marshal(system.Info{Swarm: c.info})
		if err != nil {
			t.Fatal(err)
		}
		r.answer("/info", 200, string(body))
		expect(t, c.name, once(t, r.dial(t)), c.is, r.Listener.Addr().String(), c.says)
	}
}

// Where docker info is hidden, the replies to the lists tell the same.
func TestAnEngineThatHidesItsInfoIsUnderstoodToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, message string
		status        int
		is            error
	}{
		{"a worker", "This node is not a swarm manager. Worker nodes can't be used to view or modify cluster state. Please run this command on a manager node or promote the current node to a manager.", 503, ErrWorker},
		{"no swarm", `This node is not a swarm manager. Use "docker swarm init" or "docker swarm join" to connect this node to swarm and try again.`, 503, ErrNoSwarm},
		{"a locked manager", `Swarm is encrypted and needs to be unlocked before it can be used. Please use "docker swarm unlock" to unlock it.`, 503, ErrLocked},
		{"no leader", "rpc error: code = Unknown desc = The swarm does not have a leader.", 500, ErrNoLeader},
		{"a leader that does not answer", "rpc error: code = DeadlineExceeded desc = context deadline exceeded", 500, ErrNoLeader},
	} {
		r := newReplay(t, "host-port")
		r.answer("/info", 403, `{"message":"forbidden"}`)
		body, _ := json.Marshal(map[string]string{"message": c.message})
		r.answer("/tasks", c.status, string(body))
		expect(t, c.name, once(t, r.dial(t)), c.is, r.Listener.Addr().String())
	}
}

func TestARefusedEndpointIsNamed(t *testing.T) {
	t.Parallel()
	const denied = `{"message":"authorization denied by plugin opa"}`
	for _, status := range []int{401, 403} {
		for _, path := range []string{"/_ping", "/nodes", "/services", "/tasks"} {
			r := newReplay(t, "host-port")
			r.answer(path, status, denied)
			expect(t, path, once(t, r.dial(t)), ErrRefused, "GET "+path+" was refused", "authorization denied by plugin opa", "socket proxy")
		}
		for _, path := range []string{"/info", "/networks", "/volumes"} {
			r := newReplay(t, "host-port")
			r.answer("/services", 200, `[{"ID":"s1","Spec":{"Name":"db","TaskTemplate":{"ContainerSpec":{"Mounts":[{"Type":"cluster"}]}}}}]`)
			r.answer("/volumes", 200, `{"Volumes":[]}`)
			r.answer(path, status, denied)
			state, err := collector.Once(t.Context(), New(r.dial(t), time.Hour))
			if err != nil {
				t.Errorf("%s can be done without: %v", path, err)
				continue
			}
			if gaps := state.Gaps; len(gaps) != 1 || gaps[0].What != path[1:] || !strings.Contains(gaps[0].Why, "GET "+path+" was refused") ||
				!strings.Contains(gaps[0].Why, "without it") {
				t.Errorf("%s: gaps %v", path, gaps)
			}
		}
	}
}

func TestAnAPIThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	r := newReplay(t, "host-port")
	r.api = "1.40"
	expect(t, "1.40", once(t, r.dial(t)), ErrOldAPI, "it speaks version 1.40 of the Engine API, and swarmdiag needs 1.41 (Docker 20.10) or later")
	r.api = "1.41"
	if err := once(t, r.dial(t)); err != nil {
		t.Errorf("1.41: %v", err)
	}
}

func TestWhatIsWrongBelowHTTPIsSaid(t *testing.T) {
	t.Parallel()
	fails := func(err error) client.Opt {
		return client.WithDialContext(func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", err)}
		})
	}
	for _, c := range []struct {
		name string
		err  error
		is   error
		says string
	}{
		{"no right to the socket", syscall.EACCES, ErrPermission, "permission denied: run swarmdiag as root, or as a member of the group that owns the socket"},
		{"nobody listens", syscall.ECONNREFUSED, ErrNoEngine, "no Docker engine answers there (connect: connection refused): is dockerd running"},
		{"no socket", syscall.ENOENT, ErrNoEngine, "(connect: no such file or directory)"},
	} {
		dialed, err := Dial(client.WithHost("unix:///run/docker.sock"), fails(c.err))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, c.name, once(t, dialed), c.is, "unix:///run/docker.sock: ", c.says)
		dialed.Call("ssh://ops@manager-1")
		expect(t, c.name, once(t, dialed), c.is, "ssh://ops@manager-1: ", c.says)
	}
}

func TestAnEngineThatStaysSilentIsGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts by the kernel's backlog, as a frozen dockerd does
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c, err := Dial(client.WithHost("tcp://" + listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = collector.Once(ctx, New(c, time.Hour))
	expect(t, "silence", err, ErrNoEngine, "GET /_ping was not answered in time")
}

func expect(t *testing.T, name string, err, is error, says ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("%s: %v, want %v", name, err, is)
		return
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not say %q", name, err, part)
		}
	}
}
