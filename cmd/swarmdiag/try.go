package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docker/cli/cli"
	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
	"github.com/swarmdiag/swarmdiag/analyzer/whatif/dockercli"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/dump"
	"github.com/swarmdiag/swarmdiag/exporter"
)

// unplacedStatus is the exit status of try where not every task would be placed.
const unplacedStatus = exitCode(2)

// contentTrust makes Docker's commands ask a server for the signature of an image. They read it from the process's own
// environment where they are about to ask (cli/trust.Enabled in service create and update), and neither a flag nor the
// command.Cli that they are given has a say in it: only where it is not set they do not ask. Hence it is unset, before one
// of them runs; nothing else reads it.
const contentTrust = "DOCKER_CONTENT_TRUST"

func newTry(docker *command.DockerCli) *cobra.Command {
	t := &trial{docker: docker}
	t.cmd = &cobra.Command{
		Use:   "try [OPTIONS] COMMAND",
		Short: "Say what a change would do, before it is made",
		Long: `Run a docker command on a copy of the swarm: would every task be placed, on which nodes, what would stay waiting and why, which tasks
would lose their place, and how far the rolling update would come. Placing is done by Swarm's own scheduler. Nothing is changed,
and no registry is asked.

These commands take Docker's own flags, and give Docker's own errors:

  service create   service update   service scale
  node update
  stack deploy

and one more pretends that nodes joined, as workers:

  node add --like NODE [NAME ...]

Where a change of services frees room, tasks of other services that wait for it are placed, too, and told of.

The options of try itself stand before or after the command. The exit status is 0 where every task would be placed of the services
that the command changes, or, where it changes nodes, of those that wait or lose their place; 2 where one would not, where a changed
service that is global would be taken off a node or would run on none, and 1 where the command is refused or the swarm could not
be looked at.`,
		Example: `  swarmdiag try service update --reserve-memory 4G --update-order start-first web
  swarmdiag try service create --name api --replicas 6 --limit-memory 1G --reserve-memory 1G registry/api:2
  swarmdiag try service scale web=20
  swarmdiag try node update --availability drain node-3
  swarmdiag try node add --like node-3 node-4 node-5
  swarmdiag try stack deploy -c compose.yml shop
  swarmdiag try --from ./dump --format json service scale web=20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return t.run(cmd, args)
		},
	}
	t.cmd.DisableFlagsInUseLine = true
	t.cmd.Flags().SetInterspersed(false) // what follows the command's name is Docker's
	t.where.install(t.cmd.Flags())
	t.cmd.Flags().Var(&t.out, "format", "output format: "+strings.Join(answerFormats, ", "))
	return t.cmd
}

// trial is one run of try: where it reads, and how it answers.
type trial struct {
	docker *command.DockerCli
	cmd    *cobra.Command
	where  look
	out    answerFormat
	now    time.Time
}

// run hands the arguments to Docker's commands. They form a tree of their own: its flags have the letters of some of ours.
func (t *trial) run(cmd *cobra.Command, args []string) error {
	if err := os.Unsetenv(contentTrust); err != nil {
		return fmt.Errorf("unset %s: %w", contentTrust, err)
	}
	try := &cobra.Command{Use: cmd.Name(), Short: cmd.Short, Args: cobra.ArbitraryArgs, RunE: func(_ *cobra.Command, args []string) error {
		return fmt.Errorf("there is nothing to try by the name of %q: see swarmdiag try --help", args[0])
	}}
	try.PersistentFlags().AddFlagSet(cmd.LocalFlags())
	try.AddCommand(dockercli.Commands(t.docker, t)...)
	root := &cobra.Command{
		Use: cmd.Root().Name(), SilenceUsage: true, SilenceErrors: true,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: strings.TrimSuffix(cmd.CommandPath(), " "+cmd.Name())},
	}
	root.SetFlagErrorFunc(cli.FlagErrorFunc)
	root.AddCommand(try)
	root.SetArgs(append([]string{cmd.Name()}, args...))
	root.SetIn(cmd.InOrStdin())
	root.SetOut(cmd.OutOrStdout())
	root.SetErr(cmd.ErrOrStderr())
	return saidOnce(root.Name(), root.ExecuteContext(cmd.Context()))
}

// saidOnce takes the program's name off an error: some of Docker's begin with it (cli.NoArgs, cli.ExactArgs), as all that is
// printed does.
func saidOnce(name string, err error) error {
	if err == nil {
		return nil
	}
	if text, named := strings.CutPrefix(err.Error(), name+": "); named {
		return errors.New(text)
	}
	return err
}

// State implements dockercli.Trial.
func (t *trial) State() (*collector.State, error) {
	state, now, err := t.where.state(t.cmd, t.docker)
	if err != nil {
		return nil, err
	}
	t.now = now
	return state, t.where.needs(state, "what a change would do", dump.Nodes, dump.Services, dump.Tasks)
}

// Try implements dockercli.Trial: it prints what comes of the change.
func (t *trial) Try(ctx context.Context, state *collector.State, change whatif.Change) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	outcome, err := whatif.Try(ctx, state, change, t.now)
	if err != nil {
		return err
	}
	outcome = exporter.RedactOutcome(outcome)
	out := format(t.out.String())
	err = out.write(t.docker.Out(), outcome, func(bool) error { return exporter.Outcome(t.docker.Out(), outcome, colored(t.docker.Out())) })
	if err == nil && !outcome.PlacesAll {
		return unplacedStatus
	}
	return err
}

// answerFormats are the values of --format.
var answerFormats = []string{"table", "json"}

// answerFormat is the value of --format; a table where it is not given.
type answerFormat struct{ name string }

// String implements pflag.Value.
func (f *answerFormat) String() string {
	if f.name == "" {
		return answerFormats[0]
	}
	return f.name
}

// Type implements pflag.Value.
func (f *answerFormat) Type() string { return "format" }

// Set implements pflag.Value.
func (f *answerFormat) Set(value string) error {
	if !slices.Contains(answerFormats, value) {
		return fmt.Errorf("it is one of %s", strings.Join(answerFormats, ", "))
	}
	f.name = value
	return nil
}
