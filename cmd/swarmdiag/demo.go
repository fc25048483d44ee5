package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/docker/cli/cli/command"
	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/watch"
	"github.com/swarmdiag/swarmdiag/deploy/embedded"
	"github.com/swarmdiag/swarmdiag/exporter"
)

const (
	// demoStart bounds the start of the embedded swarm, demoStop its end.
	demoStart, demoStop = 45 * time.Second, 15 * time.Second
	// demoNaming is how long the agent may take to name every fault.
	demoNaming = 10 * time.Second
	// demoWaits is the demo's patience, which nobody has to sit through.
	demoWaits = "1s"
	// swarmCommand is the hidden command that the demo starts as a process of its own: swarmkit's scheduler shares
	// its filters with everything else in a process.
	swarmCommand = "demo-swarm"
	// longestTempDir, in bytes, leaves room for what the demo's swarm puts below it in the 107 of a socket's path (unix(7)).
	longestTempDir = 60
)

// errAllNamed ends a demo that was to run once.
var errAllNamed = errors.New("all faults are named")

func newDemo(docker *command.DockerCli) *cobra.Command {
	var (
		once   bool
		listen string
	)
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show all of it on a swarm inside this program: needs no Docker, no root and no network",
		Long: `Start a Docker Swarm inside this program: swarmkit's own manager, scheduler and store, with nodes that pretend to run containers. It
holds healthy services and one stuck service for every way in which the scheduler refuses a task. The agent names each; its
log lines go to standard output, as text on a terminal and else as the JSON that the agent writes, then the report of
swarmdiag why follows on standard error.

Every fault is checked against what was planted: a wrong or missing diagnosis ends the demo with exit status 1.`,
		Example: "  swarmdiag demo\n  swarmdiag demo --once",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := demo{once: once, listen: listen, log: exporter.NewLog(docker.Out()), err: docker.Err(), colored: colored(docker.Out())}
			if docker.Out().IsTerminal() {
				d.log = exporter.NewTextLog(docker.Out())
			}
			return d.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "end after the report")
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address to serve /metrics on")
	return cmd
}

// newDemoSwarm is the embedded swarm's process: it writes the path of its control socket and lives until its standard input ends.
func newDemoSwarm() *cobra.Command {
	return &cobra.Command{
		Use: swarmCommand + " DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			logrus.SetLevel(logrus.ErrorLevel)
			ctx, cancel := context.WithCancel(cmd.Context())
			go func() {
				_, _ = io.Copy(io.Discard, cmd.InOrStdin()) // ends with the demo, however that ends
				cancel()
			}()
			err := embedded.Run(ctx, args[0], func(socket string) error {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), socket)
				return err
			})
			if errors.Is(err, context.Canceled) {
				return nil // interrupted while it started
			}
			return err
		},
	}
}

type demo struct {
	once    bool
	listen  string
	log     *exporter.Log
	err     io.Writer
	colored bool
}

func (d *demo) run(ctx context.Context) error {
	dir, err := os.MkdirTemp(tempDir(os.TempDir()), "swarmdiag")
	if err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(d.err, "Starting a swarm of six pretend nodes ...")
	group, ctx := errgroup.WithContext(ctx)
	socket, err := d.startSwarm(ctx, group, dir)
	if err == nil {
		err = d.watch(ctx, group, socket)
	}
	if err != nil {
		group.Go(func() error { return err })
	}
	err = group.Wait()
	if errors.Is(err, errAllNamed) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// tempDir is where the demo keeps its sockets, whose paths a unix socket bounds: /tmp where the user's own folder is too long.
func tempDir(own string) string {
	if len(own) > longestTempDir {
		return "/tmp"
	}
	return own
}

// startSwarm starts the embedded swarm in a process of its own and returns its control socket. The process ends with ctx.
func (d *demo) startSwarm(ctx context.Context, group *errgroup.Group, dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	child := exec.CommandContext(ctx, self, swarmCommand, dir)
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = demoStop
	child.Stderr = d.err
	if _, err := child.StdinPipe(); err != nil {
		return "", fmt.Errorf("start the demo's swarm: %w", err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start the demo's swarm: %w", err)
	}
	if err := child.Start(); err != nil {
		return "", fmt.Errorf("start the demo's swarm: %w", err)
	}
	sockets := make(chan string, 1)
	group.Go(func() error {
		line, _ := bufio.NewReader(stdout).ReadString('\n') // what ended it early is what Wait returns
		sockets <- strings.TrimSpace(line)
		if err := child.Wait(); ctx.Err() == nil {
			return fmt.Errorf("the demo's swarm ended: %w", err)
		}
		return nil
	})
	select {
	case socket := <-sockets:
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case socket == "":
			return "", errors.New("the demo's swarm did not come up")
		}
		return socket, nil
	case <-time.After(demoStart):
		return "", fmt.Errorf("the demo's swarm did not come up within %s", demoStart)
	}
}

// watch runs the agent on the swarm and holds what it says against what was planted.
func (d *demo) watch(ctx context.Context, group *errgroup.Group, socket string) error {
	options := &agentOptions{listen: d.listen, source: source{socket: socket}}
	for _, state := range []string{"pending", "none"} {
		if err := options.patience.Set(state + "=" + demoWaits); err != nil {
			return err
		}
	}
	state, err := collector.Once(ctx, watch.New(socket))
	if err != nil {
		return err
	}
	for n := range state.Nodes() {
		if n.ManagerStatus != nil && n.ManagerStatus.Leader {
			options.node = n.ID
		}
	}
	log := logrus.New()
	log.SetOutput(d.err)
	log.SetLevel(logrus.WarnLevel)
	agent := newDaemon(options, d.log, logrus.NewEntry(log))
	group.Go(func() error { return agent.run(ctx) })
	group.Go(func() error { return d.judge(ctx, agent) })
	return nil
}

// judge waits until every planted fault is named and has its remedies, and reports.
func (d *demo) judge(ctx context.Context, agent *daemon) error {
	deadline := time.Now().Add(demoNaming)
	wrong, searching := []string{"the agent has not looked yet"}, true
	for (len(wrong) > 0 || searching) && time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookPause):
		}
		if result, ok := agent.lastResult(); ok {
			wrong = compareWithPlanted(exporter.Redact(result), embedded.Faults())
			searching = slices.ContainsFunc(result.Diagnoses, func(d analyzer.Diagnosis) bool { return d.Remedies == nil })
		}
	}
	result, _ := agent.lastResult()
	if err := exporter.Report(d.err, exporter.Redact(result), nil, false, d.colored); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d of the planted faults are not named as planted:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
	}
	fmt.Fprintf(d.err, "All %d planted faults are named. Metrics: http://%s/metrics\n", len(embedded.Faults()), agent.address())
	if d.once {
		return errAllNamed
	}
	fmt.Fprintln(d.err, "Interrupt to end.")
	return nil
}

// compareWithPlanted lists what differs between the diagnoses and what was planted, a line each.
func compareWithPlanted(result analyzer.Result, planted []embedded.Planted) []string {
	var wrong []string
	found := map[string][]analyzer.Diagnosis{}
	for _, diagnosis := range result.Diagnoses {
		found[diagnosis.Service] = append(found[diagnosis.Service], diagnosis)
	}
	for _, want := range planted {
		wrong = append(wrong, compareOne(found[want.Service], want)...)
		delete(found, want.Service)
	}
	for service, diagnoses := range found {
		wrong = append(wrong, fmt.Sprintf("%s is well, and is called %s", service, diagnoses[0].Cause))
	}
	return wrong
}

func compareOne(found []analyzer.Diagnosis, want embedded.Planted) []string {
	switch {
	case len(found) == 0:
		return []string{fmt.Sprintf("%s: want %s %s, got nothing", want.Service, want.Cause, want.Shape)}
	case len(found) > 1 || found[0].Cause != want.Cause || found[0].Shape != want.Shape:
		return []string{fmt.Sprintf("%s: want %s %s, got %d diagnoses, first %s %s", want.Service, want.Cause, want.Shape, len(found), found[0].Cause, found[0].Shape)}
	}
	var text strings.Builder
	plain := format("json")
	if err := plain.write(&text, found[0], nil); err != nil {
		return []string{fmt.Sprintf("%s: %v", want.Service, err)}
	}
	var wrong []string
	for _, name := range want.Names {
		if !strings.Contains(text.String(), name) {
			wrong = append(wrong, fmt.Sprintf("%s does not name %q", want.Service, name))
		}
	}
	return wrong
}
