package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/spelling"
	"github.com/swarmdiag/swarmdiag/exporter"
)

func newCauses() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:     "causes [CAUSE]",
		Short:   "List the causes that swarmdiag tells apart, or explain one",
		Example: "  swarmdiag causes\n  swarmdiag causes placement-constraint",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return begin(causes(), args, begun), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			if markdown {
				return exporter.CauseManual(cmd.OutOrStdout())
			}
			if len(names) == 0 {
				return exporter.CauseList(cmd.OutOrStdout())
			}
			for _, rule := range analyzer.Rules() {
				if rule.Cause == names[0] {
					return exporter.CauseText(cmd.OutOrStdout(), rule)
				}
			}
			if near := nearCauses(names[0]); len(near) > 0 {
				return fmt.Errorf("there is no cause %q: did you mean %s?", names[0], strings.Join(near, " or "))
			}
			return fmt.Errorf("there is no cause %q: the causes are %s", names[0], strings.Join(causes(), ", "))
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the whole catalogue as Markdown")
	return cmd
}

func causes() []string {
	var names []string
	for _, rule := range analyzer.Rules() {
		names = append(names, rule.Cause)
	}
	return names
}

// nearCauses returns the causes that a word may mean: it is near to the name, or else to a part of it.
func nearCauses(word string) []string {
	if near := spelling.Nearest(word, causes()); len(near) > 0 {
		return near
	}
	return slices.DeleteFunc(causes(), func(cause string) bool {
		return len(spelling.Nearest(word, strings.Split(cause, "-"))) == 0
	})
}
