package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// completionTime bounds the look at a cluster for somebody who waits for a word to be completed.
const completionTime = 3 * time.Second

// complete offers the names that the cluster has; where that cannot be read, none.
func (l *look) complete(cli *command.DockerCli, names func(*collector.State) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if err := prepare(cmd); err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		cmd.SetContext(ctx)
		state, _, err := l.state(cmd, cli)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return begin(names(state), args, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// prepare does for a command what cobra does before it runs, and does not before it completes: the flags that name the engine
// have been read by now.
func prepare(cmd *cobra.Command) error {
	for c := cmd; c != nil; c = c.Parent() {
		if c.PersistentPreRunE != nil {
			return c.PersistentPreRunE(cmd, nil)
		}
	}
	return nil
}

// begin returns the names that begin so, sorted, without those that are given already.
func begin(names, args []string, begun string) []string {
	kept := slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begun) || slices.Contains(args, name) })
	slices.Sort(kept)
	return slices.Compact(kept)
}

func serviceNames(state *collector.State) []string {
	var names []string
	for s := range state.Services() {
		names = append(names, s.Spec.Annotations.Name)
	}
	return names
}

func stackNames(state *collector.State) []string {
	var names []string
	for s := range state.Services() {
		if stack := s.Spec.Annotations.Labels["com.docker.stack.namespace"]; stack != "" {
			names = append(names, stack)
		}
	}
	return names
}

func nodeNames(state *collector.State) []string {
	var names []string
	for _, n := range analyzer.Nodes(state) {
		if name, _, shared := strings.Cut(n.Name, " "); shared {
			names = append(names, n.ID)
		} else {
			names = append(names, name)
		}
	}
	return names
}
