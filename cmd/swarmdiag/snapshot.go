package main

import (
	"fmt"
	"io"
	"os"

	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/collector/snapshot"
)

func newSnapshot(docker *command.DockerCli) *cobra.Command {
	var (
		where look
		path  string
	)
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Write the swarm's state to a file that can be handed on: it holds no secrets",
		Long: `Write what swarmdiag reads of the swarm to a file. It holds no value of an environment variable, secret, config or credential;
names of nodes, services, labels and images are in it. swarmdiag why --from FILE gives the same diagnoses.`,
		Example: "  swarmdiag snapshot -o swarm.json\n  swarmdiag why --from swarm.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, now, err := where.state(cmd, docker)
			if err != nil {
				return err
			}
			return writeTo(path, docker.Out(), func(w io.Writer) error { return snapshot.Write(w, state, now) })
		},
	}
	where.install(cmd.Flags())
	cmd.Flags().StringVarP(&path, "output", "o", "-", "the file to write; - is standard output")
	return cmd
}

// writeTo writes a file, or standard output for "-". A file that could not be written whole is removed.
func writeTo(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("create snapshot: %w", err)
	}
	err = write(file)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
