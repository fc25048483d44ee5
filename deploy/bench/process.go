package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// leader is the process that lead runs in.
type leader struct {
	socket string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
}

// usage is what the leader has used and done since it started.
type usage struct {
	cpu    time.Duration
	events int64 // changes of tasks
	bytes  int64 // written to its socket
	at     time.Time
}

func (u usage) since(before usage) usage {
	return usage{u.cpu - before.cpu, u.events - before.events, u.bytes - before.bytes, u.at}
}

// startLeader starts a leader with its socket in dir, and waits until it answers.
func startLeader(ctx context.Context, dir string, nodes int) (*leader, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	l := &leader{socket: filepath.Join(dir, fmt.Sprintf("leader-%d.sock", nodes))}
	l.cmd = exec.CommandContext(ctx, self, leadArgument, strconv.Itoa(nodes), l.socket)
	l.cmd.Stderr = os.Stderr
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("talk to the leader: %w", err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("talk to the leader: %w", err)
	}
	l.out = bufio.NewScanner(out)
	if err := l.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the leader: %w", err)
	}
	if !l.out.Scan() {
		return nil, fmt.Errorf("start the leader: %w", l.cmd.Wait())
	}
	return l, nil
}

// ask has the leader do something, and returns what it answers.
func (l *leader) ask(words ...string) (string, error) {
	if _, err := fmt.Fprintln(l.in, strings.Join(words, " ")); err != nil {
		return "", fmt.Errorf("ask the leader to %s: %w", words[0], err)
	}
	if !l.out.Scan() {
		return "", fmt.Errorf("ask the leader to %s: it ended", words[0])
	}
	return l.out.Text(), nil
}

func (l *leader) usage() (usage, error) {
	answer, err := l.ask("usage")
	if err != nil {
		return usage{}, err
	}
	var used string
	u := usage{at: time.Now()}
	if _, err := fmt.Sscan(answer, &used, &u.events, &u.bytes); err != nil {
		return usage{}, fmt.Errorf("read what the leader has used: %w", err)
	}
	u.cpu, err = time.ParseDuration(used)
	return u, err
}

// stop ends the leader and waits for it.
func (l *leader) stop() error {
	_ = l.in.Close()
	if err := l.cmd.Wait(); err != nil {
		return fmt.Errorf("stop the leader: %w", err)
	}
	return nil
}

// resident is the memory of a process in bytes: now, and at its peak.
func resident(pid int) (now, peak int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kib << 10
		case "VmHWM":
			peak = kib << 10
		}
	}
	return now, peak, nil
}

// cpuOf is what a process has used (proc_pid_schedstat(5): time on a processor, in nanoseconds, summed over its threads).
func cpuOf(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, fmt.Errorf("read the processor time of process %d: it is gone", pid)
	}
	var sum time.Duration
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it ended
		}
		ran, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", thread, err)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// rate is how many events there were a second from the start of the measurement on.
func (u usage) rate(start usage) float64 { return float64(u.events) / u.at.Sub(start.at).Seconds() }
