package main

import (
	"context"
	"io"
	"time"

	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/capacity"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/dump"
	"github.com/swarmdiag/swarmdiag/exporter"
)

func newCapacity(docker *command.DockerCli) *cobra.Command {
	var (
		where  look
		out    format
		within time.Duration
	)
	cmd := &cobra.Command{
		Use:   "capacity",
		Short: "Show what would place all that waits, and how many more replicas fit",
		Long: `Show three things, each tried on Docker's own scheduler code in a copy of the cluster: the single changes of a node that would
place most of what is stuck; how many more nodes like each of those there are, joined as workers, would place all of it, and what no
number of them would, with the reason; and the headroom of every replicated service: how many more of its replicas fit as things are, were nothing
else to be placed.`,
		Example: "  swarmdiag capacity\n  swarmdiag capacity --from ./dump --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, now, err := where.state(cmd, docker)
			if err != nil {
				return err
			}
			if err := where.needs(state, "what fits", dump.Nodes, dump.Services, dump.Tasks); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), within)
			defer cancel()
			report, err := capacity.Look(ctx, state, analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true}).Diagnoses)
			if err != nil {
				return err
			}
			report = exporter.RedactCapacity(report)
			return out.write(docker.Out(), report, func(bool) error { return exporter.CapacityText(docker.Out(), report) })
		},
	}
	where.install(cmd.Flags())
	out.install(cmd)
	cmd.Flags().DurationVar(&within, "time", 30*time.Second, "how long to look at most")
	return cmd
}

// rank writes below the diagnoses of two or more services what would help most of them.
func rank(ctx context.Context, out io.Writer, state *collector.State, diagnoses []analyzer.Diagnosis, within time.Duration) error {
	if within <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ranking, err := capacity.Rank(ctx, state, diagnoses)
	if err != nil {
		return err
	}
	return exporter.RankingText(out, ranking)
}
