package main

import (
	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector/dump"
	"github.com/swarmdiag/swarmdiag/exporter"
)

func newNodes(docker *command.DockerCli) *cobra.Command {
	var (
		where look
		out   format
	)
	cmd := &cobra.Command{
		Use:     "nodes",
		Short:   "Show what Swarm counts on every node",
		Long:    "Show for every node what Swarm counts when it places a task: what the node has, what is reserved on it, and what is free.",
		Example: "  swarmdiag nodes\n  swarmdiag nodes --format json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, _, err := where.state(cmd, docker)
			if err != nil {
				return err
			}
			if err := where.needs(state, "what is free on the nodes", dump.Nodes, dump.Tasks); err != nil {
				return err
			}
			nodes := analyzer.Nodes(state)
			return out.write(docker.Out(), nodes, func(bool) error { return exporter.NodeTable(docker.Out(), nodes) })
		},
	}
	where.install(cmd.Flags())
	out.install(cmd)
	return cmd
}
