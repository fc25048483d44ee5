package dockercli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/docker/cli/cli/command"
	"github.com/docker/cli/cli/command/node"
	"github.com/docker/cli/cli/command/service"
	"github.com/docker/cli/cli/command/stack"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/streams"
	"github.com/docker/docker/api"
	"github.com/docker/docker/client"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Trial gives the state that a command is tried on, and takes what the command would change.
type Trial interface {
	State() (*collector.State, error)
	Try(context.Context, *collector.State, whatif.Change) error
}

// Commands returns Docker's own service create, update and scale, node update and stack deploy, as trees under service, node
// and stack, and node add, which is ours. Each asks the trial for a state, runs on that alone, and gives its change
// back. Standard input and error are those of docker.
func Commands(docker *command.DockerCli, trial Trial) []*cobra.Command {
	c := &dryCli{DockerCli: docker, out: streams.NewOut(io.Discard)}
	//lint:ignore SA1019 these are what Docker runs; nothing else has its flags and its errors
	services, nodes, stacks := service.NewServiceCommand(c), node.NewNodeCommand(c), stack.NewStackCommand(c)
	only(services, "create", "update", "scale")
	only(nodes, "update")
	only(stacks, "deploy")
	for _, group := range []*cobra.Command{services, nodes, stacks} {
		group.SetHelpFunc(nil) // that of stack connects to the engine
		for _, cmd := range group.Commands() {
			c.wrap(cmd, trial, group == stacks)
		}
	}
	nodes.AddCommand(newNodeAdd(trial))
	services.Short, nodes.Short, stacks.Short = "Try a change of services", "Try a change of nodes", "Try a stack file"
	return []*cobra.Command{services, nodes, stacks}
}

func only(group *cobra.Command, names ...string) {
	for _, cmd := range group.Commands() {
		if !slices.Contains(names, cmd.Name()) {
			group.RemoveCommand(cmd)
		}
	}
}

// dryFlags keeps a command from waiting for what never happens, and from reading credentials.
func dryFlags(flags *pflag.FlagSet) error {
	if flags.Lookup("detach") != nil {
		if err := flags.Set("detach", "true"); err != nil {
			return fmt.Errorf("set --detach: %w", err)
		}
	}
	if auth := flags.Lookup("with-registry-auth"); auth != nil && auth.Changed { // --rollback takes no other flag, set or not
		if err := flags.Set("with-registry-auth", "false"); err != nil {
			return fmt.Errorf("unset --with-registry-auth: %w", err)
		}
	}
	return nil
}

// wrap has a command of Docker's run on the trial's state. whole tells that it sends whole specs, from a file.
func (c *dryCli) wrap(cmd *cobra.Command, trial Trial, whole bool) {
	run := cmd.RunE
	cmd.DisableFlagsInUseLine = true // the line says OPTIONS
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := dryFlags(cmd.Flags()); err != nil {
			return err
		}
		state, err := trial.State()
		if err != nil {
			return err
		}
		// The flags of try were read; docker service update --rollback refuses any other that is set.
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { f.Changed = false })
		c.engine, err = newEngine(state)
		if err != nil {
			return err
		}
		defer c.engine.managers.close()
		c.engine.whole = whole
		if err := run(cmd, args); err != nil {
			return err
		}
		return trial.Try(cmd.Context(), state, c.engine.sent())
	}
}

// dryCli is the docker command line with an engine that is not there: neither its configuration nor its connection is used.
type dryCli struct {
	*command.DockerCli
	out    *streams.Out
	engine *engine
}

// Client returns the engine of the trial that runs.
func (c *dryCli) Client() client.APIClient { return c.engine }

// Out drops what a command says of what it did.
func (c *dryCli) Out() *streams.Out { return c.out }

// ConfigFile is an empty one: no credentials.
func (c *dryCli) ConfigFile() *configfile.ConfigFile { return configfile.New("") }

// ServerInfo is that of a Linux engine.
func (c *dryCli) ServerInfo() command.ServerInfo { return command.ServerInfo{OSType: "linux"} }

// CurrentVersion is the newest that the commands know.
func (c *dryCli) CurrentVersion() string { return api.DefaultVersion }
