// Command swarmdiag tells why a service of a Docker Swarm is not running.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/docker/cli/cli-plugins/metadata"
	"github.com/docker/cli/cli-plugins/plugin"
	"github.com/docker/cli/cli/command"
	"github.com/docker/cli/cli/debug"
	"github.com/docker/cli/cli/flags"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"
	"google.golang.org/grpc/grpclog"
)

func main() {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) // what fails comes back as an error
	os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// exitCode ends a command with a status of its own; what there is to say was said.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// run is the whole program: args[0] is the name it was called by.
func run(ctx context.Context, args []string, stdin io.ReadCloser, stdout, stderr io.Writer) int {
	signal.Ignore(syscall.SIGPIPE) // a write that fails ends the command in order
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := execute(ctx, args, stdin, stdout, stderr)
	var code exitCode
	var file *fs.PathError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &file) && errors.Is(err, syscall.EPIPE): // no connection's: whoever read the output has had enough
		return 1
	}
	fmt.Fprintln(stderr, "swarmdiag:", err)
	return 1
}

func execute(ctx context.Context, args []string, stdin io.ReadCloser, stdout, stderr io.Writer) error {
	docker, err := command.NewDockerCli(command.WithInputStream(stdin), command.WithOutputStream(stdout), command.WithErrorStream(stderr))
	if err != nil {
		return fmt.Errorf("set up the docker client: %w", err)
	}
	root := newRoot(docker)
	root.SetContext(ctx)
	if strings.HasPrefix(filepath.Base(args[0]), metadata.NamePrefix) {
		return executePlugin(docker, root)
	}
	options := flags.NewClientOptions()
	options.InstallFlags(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := setFromEnvironment(cmd); err != nil {
			return err
		}
		options.SetDefaultOptions(cmd.Root().PersistentFlags())
		return docker.Initialize(options)
	}
	root.SetArgs(args[1:])
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}

// executePlugin runs under docker, which gives the address of the engine with its own flags and contexts.
func executePlugin(docker *command.DockerCli, root *cobra.Command) error {
	otel.SetErrorHandler(debug.OTELErrorHandler) // docker's telemetry, which says nothing unless docker is in debug mode
	ctx := root.Context()
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		cmd.SetContext(ctx)
		if err := setFromEnvironment(cmd); err != nil {
			return err
		}
		return plugin.PersistentPreRunE(cmd, args)
	}
	return plugin.RunPlugin(docker, root, metadata.Metadata{
		SchemaVersion: "0.1.0", Vendor: "swarmdiag", Version: version, URL: "https://github.com/swarmdiag/swarmdiag",
	})
}

func newRoot(docker *command.DockerCli) *cobra.Command {
	root := &cobra.Command{
		Use:   "swarmdiag",
		Short: "Tells why a Swarm service is not running",
		Long: `swarmdiag tells why a service of a Docker Swarm is not running: where in Swarm its task waits, what the best node for it still
lacks, and a command to see that for yourself. It changes nothing.`,
		Example:       "  swarmdiag why web\n  docker swarmdiag why --stack shop\n  swarmdiag demo",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newAgent(docker), newWhy(docker), newTry(docker), newNodes(docker), newCapacity(docker), newSnapshot(docker), newCauses(), newDemo(docker), newDemoSwarm(), newHealthcheck(), newVersion())
	return root
}

// unknownCommand refuses arguments of the root command: each is a command that does not exist.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("there is no command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return fmt.Errorf("there is no command %q: see swarmdiag --help", args[0])
}

// setFromEnvironment gives every flag that is not on the command line the value of the environment's variable of that name:
// --node-id that of SWARMDIAG_NODE_ID.
func setFromEnvironment(cmd *cobra.Command) error {
	var failed error
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		name := "SWARMDIAG_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, set := os.LookupEnv(name)
		if f.Changed || !set || failed != nil {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = fmt.Errorf("environment variable %s: %w", name, err)
		}
	})
	return failed
}
