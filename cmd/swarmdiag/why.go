package main

import (
	"cmp"
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
	w := &whyLook{docker: docker, patience: analyzer.Patience{ProvenAtOnce: true}}
	cmd := &cobra.Command{
		Use:   "why [SERVICE|TASK ...]",
		Short: "Say why services or tasks are not running",
		Long: `Look once at the swarm of the docker context in force, and name the cause of everything that is stuck: the part of Swarm that
holds it, the node that comes closest, by how much it misses, and a command that proves it. One thing that is behind several of
them is told first, and where several services wait, last what would help most. A service that is named and not stuck tells why it
runs where it runs.

Exit status: 2 when something that was asked for is stuck and critical (with --strict, a warning does, too); 1 when swarmdiag
could not look, or a dump lacks the nodes that something waits for; otherwise 0.

A folder to read with --from can be made on a manager without swarmdiag:

` + dump.HowTo,
		Example: "  swarmdiag why\n  swarmdiag why web\n  swarmdiag why --stack shop --format wide\n  swarmdiag why --node node-3\n" +
			"  swarmdiag why --from ./dump --format json",
		Args:              noneEmpty,
		ValidArgsFunction: w.where.complete(docker, serviceNames),
		RunE:              w.run,
	}
	w.where.install(cmd.Flags())
	w.out.install(cmd)
	cmd.Flags().Var(&w.stack, "stack", "only services of this stack")
	cmd.Flags().Var(&w.node, "node", "only what should run on this node and does not")
	_ = cmd.RegisterFlagCompletionFunc("stack", w.where.complete(docker, stackNames))
	_ = cmd.RegisterFlagCompletionFunc("node", w.where.complete(docker, nodeNames))
	cmd.Flags().BoolVar(&w.strict, "strict", false, "exit with 2 for warnings, too")
	cmd.Flags().DurationVar(&w.remedyFor, "remedy-time", 10*time.Second, "how long to look for remedies at most, and again for what would help most; 0 leaves both out")
	cmd.Flags().Var(thresholds{&w.patience}, "threshold", "how long a task may be in a state before it counts as stuck, STATE=DURATION (can be repeated)")
	return cmd
}

// whyLook is one run of why: where it looks, for what, and how it answers.
type whyLook struct {
	docker      *command.DockerCli
	where       look
	stack, node given
	out         format
	strict      bool
	remedyFor   time.Duration
	patience    analyzer.Patience
}

func (w *whyLook) run(cmd *cobra.Command, names []string) error {
	state, now, err := w.where.state(cmd, w.docker)
	if err != nil {
		return err
	}
	if err := w.where.needs(state, "what is stuck", dump.Services, dump.Tasks); err != nil {
		return err
	}
	scope := analyzer.Scope{Names: names, Stack: w.stack.String(), Node: w.node.String()}
	if err := scope.Resolve(state); err != nil {
		return err
	}
	w.patience.LeastAges = state.Undated
	whole := analyzer.Analyze(state, now, w.patience)
	well, err := exporter.WellOf(state, scope, whole, now)
	if err != nil {
		return err
	}
	narrowed := scope.Narrow(state, whole)
	if err := addRemedies(cmd.Context(), state, narrowed.Diagnoses, w.remedyFor); err != nil {
		return err
	}
	narrowed.ShareRemedies()
	result := exporter.Redact(narrowed)
	unjudged := w.where.judged(state, result)
	if unjudged != nil && len(result.Diagnoses) == 0 {
		return unjudged
	}
	err = w.out.write(w.docker.Out(), exporter.Answer{Result: result, Well: well}, func(wide bool) error {
		if err := exporter.Report(w.docker.Out(), result, well, wide, colored(w.docker.Out())); err != nil {
			return err
		}
		return rank(cmd.Context(), w.docker.Out(), state, narrowed.Diagnoses, w.remedyFor)
	})
	if err == nil && result.IsStuck(w.strict) {
		return stuckStatus
	}
	return cmp.Or(err, unjudged)
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
