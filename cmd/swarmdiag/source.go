package main

import (
	"context"
	"fmt"
	"time"

	"github.com/docker/cli/cli/command"
	"github.com/docker/cli/cli/context/docker"
	"github.com/spf13/pflag"

	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/dump"
	"github.com/swarmdiag/swarmdiag/collector/engine"
	"github.com/swarmdiag/swarmdiag/collector/watch"
)

// lookTime bounds one look at a cluster from the command line.
const lookTime = time.Minute

// look says where a command that looks once reads the cluster's state.
type look struct {
	from, controlSocket string
}

func (l *look) install(flags *pflag.FlagSet) {
	flags.StringVar(&l.from, "from", "", "read a snapshot, or a file or folder with the output of docker inspect, instead of a swarm")
	flags.StringVar(&l.controlSocket, "control-socket", "", "read a manager's control socket, such as /run/docker/swarm/control.sock, instead of the Engine API")
}

// state reads the state once, and the time to measure ages by.
func (l *look) state(ctx context.Context, cli *command.DockerCli) (*collector.State, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var source collector.Source
	switch {
	case l.from != "" && l.controlSocket != "":
		return nil, time.Time{}, fmt.Errorf("--from and --control-socket exclude each other")
	case l.from != "":
		return dump.Read(l.from)
	case l.controlSocket != "":
		source = watch.New(l.controlSocket)
	default:
		client, err := dialContext(cli)
		if err != nil {
			return nil, time.Time{}, err
		}
		defer client.Close()
		source = engine.New(client, time.Minute)
	}
	state, err := collector.Once(ctx, source)
	return state, time.Now(), err
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
