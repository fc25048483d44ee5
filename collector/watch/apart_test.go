package watch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/moby/swarmkit/v2/node"
)

// apart names the directory of a manager that is this program's only purpose.
const apart = "SWARMDIAG_TEST_MANAGER"

// startApart runs a manager in a process of its own until the test ends. Under many changes swarmkit's agent races with
// itself (agent.taskManager.run), which is not what is tested here: what the race detector finds there goes into a file.
func startApart(t *testing.T) *manager {
	t.Helper()
	dir := shortDir(t)
	child := exec.CommandContext(context.Background(), os.Args[0])
	child.Env = append(os.Environ(), apart+"="+dir, "GORACE=exitcode=0 log_path="+filepath.Join(dir, "race"))
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := child.Wait(); err != nil {
			t.Errorf("the manager's process: %v", err)
		}
	})
	if said, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("the manager's process says %q: %v", said, err)
	}
	return &manager{socket: configIn(dir).ListenControlAPI}
}

// runApart runs a manager until the test that started it closes the standard input.
func runApart(dir string) {
	config := configIn(dir)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n, err := node.New(&config)
	if err == nil {
		err = n.Start(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the manager:", err)
		os.Exit(1)
	}
	select {
	case <-n.Ready():
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "the manager is not ready in time")
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := n.Stop(stop); err != nil {
		fmt.Fprintln(os.Stderr, "stop the manager:", err)
		os.Exit(1)
	}
}
