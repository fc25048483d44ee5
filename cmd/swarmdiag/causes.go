package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/exporter"
)

func newCauses() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:     "causes [CAUSE]",
		Short:   "List the causes that swarmdiag tells apart, or explain one",
		Example: "  swarmdiag causes\n  swarmdiag causes placement-constraint",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			if markdown {
				return exporter.CauseManual(cmd.OutOrStdout())
			}
			if len(names) == 0 {
				return exporter.CauseList(cmd.OutOrStdout())
			}
			var known []string
			for _, rule := range analyzer.Rules() {
				if rule.Cause == names[0] {
					return exporter.CauseText(cmd.OutOrStdout(), rule)
				}
				known = append(known, rule.Cause)
			}
			return fmt.Errorf("there is no cause %q; there are %s", names[0], strings.Join(known, ", "))
		},
	}
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the whole catalogue as Markdown")
	return cmd
}
