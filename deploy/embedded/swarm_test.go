package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/sirupsen/logrus"
)

// The tests of this package run one after the other: a process has room for one embedded swarm (see the package's comment).
// An error that swarmkit logs is a failure of them all.
func TestMain(m *testing.M) {
	var log bytes.Buffer
	logrus.SetLevel(logrus.ErrorLevel)
	logrus.SetOutput(&log)
	code := m.Run()
	logrus.SetOutput(os.Stderr)
	if log.Len() > 0 {
		fmt.Fprintf(os.Stderr, "swarmkit complained:\n%s", &log)
		code = 1
	}
	os.Exit(code)
}

// startSwarm runs a swarm, waits until it is ready and returns a client of its control socket. stop ends the swarm and is called
// at the test's end where the test has not.
func startSwarm(t *testing.T, dir string) (control api.ControlClient, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	sockets, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, dir, func(socket string) error {
			sockets <- socket
			return nil
		})
	}()
	var socket string
	select {
	case socket = <-sockets:
	case err := <-ended:
		cancel()
		t.Fatalf("the swarm did not start: %v", err)
	}
	conn, err := dialControl(socket)
	if err != nil {
		t.Error(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := conn.Close(); err != nil {
			t.Errorf("close connection: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the swarm did not stop well: %v", err)
		}
	}
	t.Cleanup(stop)
	return api.NewControlClient(conn), stop
}

func TestAStoppedSwarmLeavesNeitherSocketNorGoroutine(t *testing.T) {
	dir := t.TempDir()
	began := time.Now()
	_, stop := startSwarm(t, dir)
	t.Logf("ready after %v", time.Since(began))
	stop()

	for _, name := range []string{"control.sock", "csi.sock"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	expectNoGoroutine(t)
}

func TestAStopDoesNotWaitForAWatchingClient(t *testing.T) {
	dir := t.TempDir()
	_, stop := startSwarm(t, dir)
	conn, err := dialControl(filepath.Join(dir, "control.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	watch, err := api.NewWatchClient(conn).Watch(t.Context(), &api.WatchRequest{
		Entries: []*api.WatchRequest_WatchEntry{{Kind: "task", Action: api.WatchActionKindUpdate}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatalf("open watch: %v", err)
	}

	began := time.Now()
	stop()
	if took := time.Since(began); took > stopLimit/2 {
		t.Errorf("the stop took %v", took)
	}
}

func TestASwarmWhoseContextEndsWhileItStartsIsStoppedWhole(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 500 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		err := Run(ctx, t.TempDir(), func(string) error {
			t.Error("ready was called")
			return nil
		})
		cancel()
		if err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
			t.Errorf("after %v: got %v, want the context's error", after, err)
		}
		expectNoGoroutine(t)
	}
}

func TestAnErrorOfReadyEndsTheSwarm(t *testing.T) {
	want := errors.New("nobody to tell")
	err := Run(t.Context(), t.TempDir(), func(string) error { return want })
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	expectNoGoroutine(t)
}

func TestASocketPathThatIsTooLongIsRefused(t *testing.T) {
	dir := "/tmp/" + strings.Repeat("x", maxSocketPath)
	err := Run(t.Context(), dir, func(string) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "more than the 107 of a unix socket") {
		t.Errorf("got %v", err)
	}
}

// expectNoGoroutine waits until no goroutine of the swarm is left but those of swarmkit's CSI manager and its connection to the
// driver, which swarmkit does not end.
func expectNoGoroutine(t *testing.T) {
	t.Helper()
	const limit = 5 * time.Second
	var left []string
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if left = goroutinesOfTheSwarm(); len(left) == 0 {
			return
		}
	}
	t.Errorf("%d goroutines are left after %v:\n%s", len(left), limit, strings.Join(left, "\n\n"))
}

func goroutinesOfTheSwarm() []string {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var left []string
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		switch {
		case strings.Contains(stack, "testing.(*T)."), strings.Contains(stack, "testing.tRunner"):
		case strings.Contains(stack, "swarmkit/v2/manager/csi.(*Manager).run"):
		case strings.Contains(stack, "grpcsync.(*CallbackSerializer).run"):
		default:
			left = append(left, stack)
		}
	}
	return left
}
