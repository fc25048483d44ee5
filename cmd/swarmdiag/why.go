package main

import (
	"errors"
	"slices"
	"time"

	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector/dump"
	"github.com/swarmdiag/swarmdiag/exporter"
)

// stuckStatus is the exit status of why where something that the user asked for does not happen.
const stuckStatus = exitCode(2)

func newWhy(docker *command.DockerCli) *cobra.Command {
	var (
		where       look
		stack, node given
		out         format
		strict      bool
		remedyFor   time.Duration
		patience    = analyzer.Patience{ProvenAtOnce: true}
	)
	cmd := &cobra.Command{
		Use:   "why [SERVICE|TASK ...]",
		Short: "Say why services or tasks are not running",
		Long: `Look once at the swarm of the docker context in force, and name the cause of everything that is stuck: the part of Swarm that
holds it, the node that comes closest, by how much it misses, and a command that proves it. One thing that is behind several of
them is told first, and where several services wait, last what would help most. A service that is named and not stuck tells why it
runs where it runs.

Exit status: 2 when something that was asked for is stuck and critical (with --strict, a warning does, too); 1 when swarmdiag
could not look; otherwise 0.

A folder to read with --from can be made on a manager without swarmdiag:

` + dump.HowTo,
		Example: "  swarmdiag why\n  swarmdiag why web\n  swarmdiag why --stack shop --format wide\n  swarmdiag why --node node-3\n" +
			"  swarmdiag why --from ./dump --format json",
		Args:              noneEmpty,
		ValidArgsFunction: where.complete(docker, serviceNames),
		RunE: func(cmd *cobra.Command, names []string) error {
			state, now, err := where.state(cmd, docker)
			if err != nil {
				return err
			}
			if err := where.needs(state, "what is stuck", dump.Services, dump.Tasks); err != nil {
				return err
			}
			scope := analyzer.Scope{Names: names, Stack: stack.String(), Node: node.String()}
			if err := scope.Resolve(state); err != nil {
				return err
			}
			whole := analyzer.Analyze(state, now, patience)
			well, err := exporter.Well(state, scope, whole, now)
			if err != nil {
				return err
			}
			narrowed := scope.Narrow(state, whole)
			if err := addRemedies(cmd.Context(), state, narrowed.Diagnoses, remedyFor); err != nil {
				return err
			}
			narrowed.ShareRemedies()
			result := exporter.Redact(narrowed)
			err = out.write(docker.Out(), result, func(wide bool) error {
				if err := exporter.Report(docker.Out(), result, well, wide, colored(docker.Out())); err != nil {
					return err
				}
				return rank(cmd.Context(), docker.Out(), state, narrowed.Diagnoses, remedyFor)
			})
			if err == nil && result.IsStuck(strict) {
				return stuckStatus
			}
			return err
		},
	}
	where.install(cmd.Flags())
	out.install(cmd)
	cmd.Flags().Var(&stack, "stack", "only services of this stack")
	cmd.Flags().Var(&node, "node", "only what should run on this node and does not")
	_ = cmd.RegisterFlagCompletionFunc("stack", where.complete(docker, stackNames))
	_ = cmd.RegisterFlagCompletionFunc("node", where.complete(docker, nodeNames))
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 2 for warnings, too")
	cmd.Flags().DurationVar(&remedyFor, "remedy-time", 10*time.Second, "how long to look for remedies at most, and again for what would help most; 0 leaves both out")
	cmd.Flags().Var(thresholds{&patience}, "threshold", "how long a task may be in a state before it counts as stuck, STATE=DURATION (can be repeated)")
	return cmd
}

// noneEmpty refuses an empty argument: it stands for a variable that is not set, and not for everything.
func noneEmpty(_ *cobra.Command, names []string) error {
	if slices.Contains(names, "") {
		return errors.New("a name is empty: name services or tasks, or give no argument to see everything that is stuck")
	}
	return nil
}

// thresholds is the value of --threshold.
type thresholds struct{ *analyzer.Patience }

// String implements pflag.Value.
func (thresholds) String() string { return "" }

// Type implements pflag.Value.
func (thresholds) Type() string { return "STATE=DURATION" }
