package main

import (
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
		where    look
		scope    analyzer.Scope
		out      format
		strict   bool
		patience = analyzer.Patience{ProvenAtOnce: true}
	)
	cmd := &cobra.Command{
		Use:   "why [SERVICE|TASK ...]",
		Short: "Say why services or tasks are not running",
		Long: `Look once at the swarm of the docker context in force, and name the cause of everything that is stuck: the part of Swarm that
holds it, the node that comes closest, by how much it misses, and a command that proves it.

The exit status is 2 where a critical diagnosis is in the scope asked for (with --strict: or a warning), 1 where the swarm
could not be looked at, else 0.

A folder to read with --from can be made on a manager without swarmdiag:

` + dump.HowTo,
		Example: "  swarmdiag why\n  swarmdiag why web\n  swarmdiag why --stack shop --format wide\n  swarmdiag why --node node-3\n" +
			"  swarmdiag why --from ./dump --format json",
		RunE: func(cmd *cobra.Command, names []string) error {
			state, now, err := where.state(cmd.Context(), docker)
			if err != nil {
				return err
			}
			scope.Names = names
			if err := scope.Resolve(state); err != nil {
				return err
			}
			result := exporter.Redact(scope.Narrow(state, analyzer.Analyze(state, now, patience)))
			err = out.write(docker.Out(), result, func(wide bool) error {
				return exporter.Report(docker.Out(), result, wide, colored(docker.Out()))
			})
			if err == nil && result.IsStuck(strict) {
				return stuckStatus
			}
			return err
		},
	}
	where.install(cmd.Flags())
	out.install(cmd)
	cmd.Flags().StringVar(&scope.Stack, "stack", "", "only services of this stack")
	cmd.Flags().StringVar(&scope.Node, "node", "", "only what should run on this node and does not")
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 2 for warnings, too")
	cmd.Flags().Var(thresholds{&patience}, "threshold", "how long a task may be in a state before it counts as stuck, STATE=DURATION (can be repeated)")
	return cmd
}

// thresholds is the value of --threshold.
type thresholds struct{ *analyzer.Patience }

// String implements pflag.Value.
func (thresholds) String() string { return "" }

// Type implements pflag.Value.
func (thresholds) Type() string { return "STATE=DURATION" }
