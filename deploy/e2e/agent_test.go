//go:build live

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopWithin is how long an agent may take to end when it is told to.
const stopWithin = 10 * time.Second

// agentProcess is an agent that runs on this machine, beside the swarm. It keeps what the agent writes.
type agentProcess struct {
	cmd   *exec.Cmd
	kill  context.CancelFunc
	ended chan error

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (a *agentProcess) Write(text []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text.Write(text)
}

// startAgent runs an agent until it is stopped, at the latest when the test ends. It serves on a port of its own choice.
func (r *rig) startAgent(environment []string, arguments ...string) *agentProcess {
	r.t.Helper()
	ctx, kill := context.WithCancel(context.Background())
	a := &agentProcess{kill: kill, ended: make(chan error, 1)}
	a.cmd = exec.CommandContext(ctx, filepath.Join(r.config, "swarmdiag"), append([]string{"agent"}, arguments...)...)
	a.cmd.Env = append(os.Environ(), append([]string{"DOCKER_CONFIG=" + r.config, "SWARMDIAG_LISTEN=127.0.0.1:0"}, environment...)...)
	a.cmd.Stdout, a.cmd.Stderr = a, a
	if err := a.cmd.Start(); err != nil {
		kill()
		r.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.ended <- a.cmd.Wait()
	}()
	r.t.Cleanup(func() { kill(); <-done })
	return a
}

// written is all that the agent wrote.
func (a *agentProcess) written() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text.String()
}

// address is where the agent serves, or an error before it says so.
func (a *agentProcess) address() (string, error) {
	for _, line := range strings.Split(a.written(), "\n") {
		var entry struct{ Msg, Listen string }
		if err := json.Unmarshal([]byte(line), &entry); err == nil && entry.Msg == "agent starts" {
			return entry.Listen, nil
		}
	}
	return "", errors.New("the agent does not say where it serves:\n" + a.written())
}

// stop tells the agent to end and returns what its exit status says.
func (a *agentProcess) stop() error {
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-a.ended:
		return err
	case <-time.After(stopWithin):
		return errors.New("the agent does not end")
	}
}

// eventsIn are the lines of the decision log in what agents wrote.
func eventsIn(text string) []event {
	var events []event
	for _, line := range strings.Split(text, "\n") {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err == nil && e.Event != "" {
			events = append(events, e)
		}
	}
	return events
}

// stuckIn are the services that agents called stuck in what they wrote, sorted, as often as they did.
func stuckIn(text string) []string {
	var services []string
	for _, e := range eventsIn(text) {
		if e.Event == "stuck" {
			services = append(services, e.Service)
		}
	}
	slices.Sort(services)
	return services
}
