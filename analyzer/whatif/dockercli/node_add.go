package dockercli

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
	"github.com/swarmdiag/swarmdiag/collector"
)

func newNodeAdd(trial Trial) *cobra.Command {
	var like string
	cmd := &cobra.Command{
		Use:   "add --like NODE [NAME ...]",
		Short: "Pretend that nodes like an existing one joined",
		Long: `Pretend that one more worker joined for every NAME (one where none is given), with the resources, platform, plugins and labels of
an existing node, active and ready. What is like a manager joins as a worker, too: swarmdiag capacity counts the same nodes.`,
		Example: "  swarmdiag try node add --like node-3\n  swarmdiag try node add --like node-3 node-4 node-5",
		RunE: func(cmd *cobra.Command, names []string) error {
			state, err := trial.State()
			if err != nil {
				return err
			}
			e, err := newEngine(state)
			if err != nil {
				return err
			}
			defer e.managers.close()
			model, err := e.node(cmd.Context(), like)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				names = []string{"new-" + hostname(model)}
			}
			change, err := added(state, model, names)
			if err != nil {
				return err
			}
			return trial.Try(cmd.Context(), state, change)
		},
	}
	cmd.Flags().StringVar(&like, "like", "", "the node that the new ones are like: a hostname or an id")
	_ = cmd.MarkFlagRequired("like")
	return cmd
}

// added makes a node for each name. Their ids are their names: no real node has such a one.
func added(state *collector.State, model *api.Node, names []string) (whatif.Change, error) {
	change := whatif.Change{}
	taken := map[string]bool{}
	for n := range state.Nodes() {
		taken[n.ID], taken[hostname(n)] = true, true
	}
	for _, name := range names {
		if taken[name] {
			return change, fmt.Errorf("there is a node %s already", name)
		}
		taken[name] = true
		change.Nodes = append(change.Nodes, analyzer.Joining(model, name))
	}
	return change, nil
}
