package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/docker/cli/cli/command"
	"github.com/docker/cli/cli/context/docker"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/dump"
	"github.com/swarmdiag/swarmdiag/collector/engine"
	"github.com/swarmdiag/swarmdiag/collector/watch"
)

// lookTime bounds one look at a cluster from the command line.
const lookTime = time.Minute

// look says where a command that looks once reads the cluster's state.
type look struct {
	from          given
	controlSocket string
}

func (l *look) install(flags *pflag.FlagSet) {
	flags.Var(&l.from, "from", "read a snapshot, or a file or folder with the output of docker inspect, instead of a swarm")
	flags.StringVar(&l.controlSocket, "control-socket", "", "read a manager's control socket, such as /run/docker/swarm/control.sock, instead of the Engine API")
}

// state reads the state once, and the time to measure ages by.
func (l *look) state(cmd *cobra.Command, cli *command.DockerCli) (*collector.State, time.Time, error) {
	switch {
	case l.from != "" && l.controlSocket != "":
		return nil, time.Time{}, fmt.Errorf("--from and --control-socket exclude each other")
	case l.from != "":
		return dump.Read(cmd.Context(), l.from.String())
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), lookTime)
	defer cancel()
	if socket := l.socket(hostIsNamed(cmd, cli)); socket != "" {
		state, err := collector.Once(ctx, watch.New(socket))
		return state, time.Now(), err
	}
	client, err := dial(cli, hostIsNamed(cmd, cli))
	if err != nil {
		return nil, time.Time{}, err
	}
	defer client.Close()
	state, err := collector.Once(ctx, engine.New(client, time.Minute))
	return state, time.Now(), err
}

// socket is the control socket to read, empty where the Engine API is to be asked: the one that the operator names, else one
// that is mounted without the engine's.
func (l *look) socket(hostNamed bool) string {
	switch {
	case l.controlSocket == noSocket:
		return ""
	case l.controlSocket != "":
		return l.controlSocket
	case hostNamed || firstSocket(engineSockets) != "":
		return ""
	}
	return firstSocket(controlSockets)
}

// needs refuses a dump that lacks what a question is about.
func (l *look) needs(state *collector.State, question string, kinds ...string) error {
	if err := dump.Need(state, question, kinds...); err != nil {
		return fmt.Errorf("%s: %w", l.from, err)
	}
	return nil
}

// judged is an error where something waits for a node, and a dump lacks the nodes. The result must have been redacted.
func (l *look) judged(state *collector.State, result analyzer.Result) error {
	if len(result.Unjudged) == 0 {
		return nil
	}
	first := result.Unjudged[0]
	question := "why " + first.Service
	if more := len(result.Unjudged) - 1; more > 0 {
		question += fmt.Sprintf(" (and %d more)", more)
	}
	if first.Tasks == 0 {
		question += " has no task"
	} else {
		question += " waits for a node"
	}
	if first.DockerSays != "" {
		question += ", of which Docker says " + strconv.Quote(first.DockerSays) + ","
	}
	return l.needs(state, question, dump.Nodes)
}

// given is the value of a flag that may be left out, but not be empty: that would be a variable that is not set, and the
// answer one to another question.
type given string

// String implements pflag.Value.
func (g *given) String() string { return string(*g) }

// Type implements pflag.Value.
func (g *given) Type() string { return "string" }

// Set implements pflag.Value.
func (g *given) Set(value string) error {
	if value == "" {
		return errors.New("it is empty: give a value, or leave the flag out")
	}
	*g = given(value)
	return nil
}

// dial prepares the connection to the engine: the one that --host, --context or the environment names, else the first socket
// that is there.
func dial(cli *command.DockerCli, hostNamed bool) (*engine.Client, error) {
	if socket := firstSocket(engineSockets); !hostNamed && socket != "" {
		return engine.DialSocket(socket)
	}
	return dialContext(cli)
}

// hostIsNamed tells whether the operator said which engine to ask.
func hostIsNamed(cmd *cobra.Command, cli *command.DockerCli) bool {
	host := cmd.Root().Flag("host")
	return host != nil && host.Changed || os.Getenv("DOCKER_HOST") != "" || cli.CurrentContext() != command.DefaultContextName
}

// dialContext prepares the connection to the engine of the docker context in force, or of --host.
func dialContext(cli *command.DockerCli) (*engine.Client, error) {
	name := cli.CurrentContext()
	metadata, err := cli.ContextStore().GetMetadata(name)
	if err != nil {
		return nil, fmt.Errorf("read docker context %q: %w", name, err)
	}
	meta, err := docker.EndpointFromContext(metadata)
	if err != nil {
		return nil, fmt.Errorf("find the engine of docker context %q: %w", name, err)
	}
	endpoint, err := docker.WithTLSData(cli.ContextStore(), name, meta)
	if err != nil {
		return nil, fmt.Errorf("read the certificates of docker context %q: %w", name, err)
	}
	options, err := endpoint.ClientOpts()
	if err != nil {
		return nil, fmt.Errorf("set up the connection of docker context %q: %w", name, err)
	}
	client, err := engine.Dial(options...)
	if err != nil {
		return nil, err
	}
	client.Call(endpoint.Host)
	return client, nil
}
