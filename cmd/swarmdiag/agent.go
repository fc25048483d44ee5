package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/docker/cli/cli/command"
	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/exporter"
)

// tokenFile is where Docker puts the secret of the documented stack.
const tokenFile = "/run/secrets/swarmdiag-token"

// defaultListen has the host-mode port that all agents share.
const defaultListen = ":9797"

// mostGarbage is how much garbage an agent gathers before it is collected, in percent of the memory in use. What it keeps
// follows the size of the cluster, and Go's default of 100 would let it take twice that.
const mostGarbage = 65

// agentOptions are the flags of the agent.
type agentOptions struct {
	listen, node, token string
	open                bool
	source              source
	patience            analyzer.Patience
}

func newAgent(docker *command.DockerCli) *cobra.Command {
	var options agentOptions
	token := tokenFile
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Watch the swarm from a node, log what is stuck and why, and serve metrics",
		Long: `Run the daemon, one on every node. On a manager it follows the cluster; the one on the leader speaks: it writes a JSON line when a
task is stuck, when the cause changes and when it is resolved, and serves the cluster's metrics. It changes nothing.

It reads the manager's control socket where that is mounted, else it polls the Engine API.`,
		Example: "  swarmdiag agent\n  swarmdiag agent --threshold pending=30s\n  swarmdiag agent --control-socket none --poll-interval 10s\n" +
			"  swarmdiag --context my-manager agent",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if options.token, err = readToken(token, cmd.Flags().Changed("token-file")); err != nil {
				return err
			}
			if options.source.engine, err = dial(docker, hostIsNamed(cmd, docker)); err != nil {
				return err
			}
			defer options.source.engine.Close()
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(mostGarbage)
			}
			log := logrus.New()
			log.SetOutput(docker.Err())
			log.SetFormatter(&logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano})
			log.SetLevel(logrus.GetLevel())
			return newDaemon(&options, exporter.NewLog(docker.Out()), logrus.NewEntry(log)).run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options.listen, "listen", defaultListen, "address to serve /metrics, /healthz, /readyz and /v1/diagnoses on; all agents use the same port")
	flags.StringVar(&options.node, "node-id", "", "id of the node the agent runs on; the engine is asked where it is not given")
	flags.StringVar(&token, "token-file", tokenFile, "file with the token that opens /v1/; without one it answers on loopback only")
	flags.BoolVar(&options.open, "open", false, "let everybody read /v1/")
	flags.StringVar(&options.source.socket, "control-socket", "", "a manager's control socket, or none to poll the Engine API (default: found in /host/run or /run)")
	flags.DurationVar(&options.source.polling, "poll-interval", 5*time.Second, "how often to poll the Engine API where there is no control socket; less often where a poll takes over 80 ms")
	flags.Var(thresholds{&options.patience}, "threshold", "how long a task may be in a state before it counts as stuck, STATE=DURATION (can be repeated)")
	return cmd
}

// readToken reads the token; no file at the default place means no token.
func readToken(path string, wanted bool) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !wanted {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("read the token: %s is empty", path)
	}
	return token, nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return listener, nil
}
