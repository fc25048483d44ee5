package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version and revision are stamped by the Makefile.
var version, revision = "dev", "unknown"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "swarmdiag %s (%s, %s, %s/%s)\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
