package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// settle is how long the agent has to list the swarm, to find remedies and to come to rest; quiet how long its use of the
	// processor is measured.
	settle = 30 * time.Second
	quiet  = 20 * time.Second
)

// measureAgent runs the real agent on the leader's socket, lets it come to rest, and measures it while 50 events come a second.
func measureAgent(ctx context.Context, r *report, l *leader, node, dir string) error {
	cmd := exec.CommandContext(ctx, agentPath, "agent", "--control-socket", l.socket, "--node-id", node, "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+filepath.Join(dir, "docker.sock"))
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the agent (make build): %w", err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	if err := sleep(ctx, settle); err != nil {
		return err
	}
	if _, err := l.ask("churn", "on"); err != nil {
		return err
	}
	defer l.ask("churn", "off")
	if err := sleep(ctx, 5*time.Second); err != nil { // until replacements come as fast as failures
		return err
	}
	pid := cmd.Process.Pid
	at, err := l.usage()
	if err != nil {
		return err
	}
	used, err := cpuOf(pid)
	if err != nil {
		return err
	}
	if err := sleep(ctx, quiet); err != nil {
		return err
	}
	after, err := cpuOf(pid)
	if err != nil {
		return err
	}
	end, err := l.usage()
	if err != nil {
		return err
	}
	now, peak, err := resident(pid)
	if err != nil {
		return err
	}
	r.agent(now, peak, float64(after-used)/float64(end.at.Sub(at.at)), end.since(at).rate(at))
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
