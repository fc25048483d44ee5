package main

import (
	"bufio"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

func TestTheLeaderOfASmallSwarmIsFollowed(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	commands, in := io.Pipe()
	out, answers := io.Pipe()
	var leading sync.WaitGroup
	leading.Go(func() {
		if err := lead(t.Context(), 5, socket, commands, answers); err != nil {
			t.Error(err)
		}
		_ = answers.Close()
	})
	t.Cleanup(func() { _ = in.Close(); leading.Wait() })
	l := &leader{socket: socket, in: in, out: bufio.NewScanner(out)}
	if !l.out.Scan() || l.out.Text() != "ready" {
		t.Fatalf("the leader says %q", l.out.Text())
	}
	f, err := follow(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.stop)
	want := 5*(tasksPerNode-1) + 4 + groups*waitingPerGroup // one of the nodes is drained and runs no proxy
	if got := count(f.store.Snapshot().Tasks(), func(*api.Task) bool { return true }); got != want {
		t.Errorf("%d tasks: want %d", got, want)
	}
	before, err := l.usage()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.ask("churn", "on"); err != nil {
		t.Fatal(err)
	}
	await(t, f.store, "a task fails and another one runs in its place", func(s *collector.State) bool {
		failed := func(t *api.Task) bool { return t.Status.State == api.TaskStateFailed }
		young := func(t *api.Task) bool {
			return t.Status.State == api.TaskStateRunning && len(t.Spec.GetContainer().Env) > 0 && t.Status.GetContainer().ContainerID == t.ID+t.ID
		}
		return count(s.Tasks(), failed) > 0 && count(s.Tasks(), young) > 0
	})
	after, err := l.usage()
	if err != nil {
		t.Fatal(err)
	}
	if used := after.since(before); used.events == 0 || used.bytes == 0 || used.cpu <= 0 {
		t.Errorf("the leader has used and done %+v", used)
	}
}

func count(tasks func(func(*api.Task) bool), is func(*api.Task) bool) int {
	n := 0
	for t := range tasks {
		if is(t) {
			n++
		}
	}
	return n
}

// await waits until the state is so.
func await(t *testing.T, store *collector.Store, what string, is func(*collector.State) bool) {
	t.Helper()
	for late := time.After(patience); ; {
		changed := store.Changed()
		if is(store.Snapshot()) {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
