package dockercli

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/cli/cli/command"
	"github.com/spf13/cobra"

	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/dump"
)

const cases = "../../../cmd/swarmdiag/testdata/cases/"

// recorder is a trial that keeps what a command would change.
type recorder struct {
	state *collector.State
	got   *whatif.Change
}

func (r *recorder) State() (*collector.State, error) { return r.state, nil }

func (r *recorder) Try(_ context.Context, _ *collector.State, change whatif.Change) error {
	r.got = &change
	return nil
}

// run runs a command of Docker's on a recorded swarm.
func run(t *testing.T, folder string, args ...string) (*whatif.Change, error) {
	t.Helper()
	state, _, err := dump.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	docker, err := command.NewDockerCli(command.WithCombinedStreams(io.Discard), command.WithInputStream(io.NopCloser(strings.NewReader(""))))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{state: state}
	root := &cobra.Command{Use: "docker", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(Commands(docker, r)...)
	root.SetArgs(args)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err = root.ExecuteContext(t.Context())
	return r.got, err
}

func TestAnUpdateThatChangesNothingRestartsNothing(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(cases + "*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, folder := range folders {
		state, _, err := dump.Read(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		for s := range state.Services() {
			change, err := run(t, folder, "service", "update", nameOf(s))
			if err != nil || change == nil || len(change.Services) != 1 || change.Services[0].Restarts {
				t.Errorf("%s: %s: %+v, %v", folder, nameOf(s), change, err)
			}
		}
	}
}

func TestTheLastOfTwoScalesOfAServiceCounts(t *testing.T) {
	t.Parallel()
	change, err := run(t, cases+"healthy", "service", "scale", "web=5", "api=2", "web=7")
	if err == nil || change != nil {
		t.Fatalf("a global service cannot be scaled: %+v", change)
	}
	change, err = run(t, cases+"healthy", "service", "scale", "web=5", "cache=1", "web=7")
	if err != nil || len(change.Services) != 2 {
		t.Fatalf("%+v, %v", change, err)
	}
	if web := change.Services[0]; web.Restarts || web.Spec.GetReplicated().Replicas != 7 {
		t.Errorf("restarts %t, %d replicas", web.Restarts, web.Spec.GetReplicated().Replicas)
	}
}

func TestWhatRestartsTasks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want bool
	}{
		"a value that is not kept":   {[]string{"--env-add", "SECRET=2"}, true},
		"another command":            {[]string{"--args", "sleep 5"}, true},
		"a reservation":              {[]string{"--reserve-memory", "1G"}, true},
		"force":                      {[]string{"--force"}, true},
		"a secret":                   {[]string{"--secret-add", "tls"}, true},
		"a limit of the placement":   {[]string{"--replicas-max-per-node", "9"}, false},
		"more replicas":              {[]string{"--replicas", "9"}, false},
		"how updates are done":       {[]string{"--update-order", "start-first"}, false},
		"a label of the service":     {[]string{"--label-add", "a=b"}, false},
		"a label of its containers":  {[]string{"--container-label-add", "a=b"}, true},
		"waiting for it to converge": {[]string{"--detach=false"}, false},
		"what the registry knows":    {[]string{"--with-registry-auth"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change, err := run(t, cases+"healthy", append(append([]string{"service", "update"}, test.args...), "web")...)
			if err != nil || change == nil || len(change.Services) != 1 || change.Services[0].Restarts != test.want {
				t.Errorf("restarts: want %t, got %+v, %v", test.want, change, err)
			}
		})
	}
}

func TestWhatDockerRefuses(t *testing.T) {
	t.Parallel()
	const managers = "Error response from daemon: rpc error: code = "
	for name, test := range map[string]struct {
		args string
		says string
	}{
		"an unknown service":         {"service update wbe", "Error response from daemon: service wbe not found"},
		"an unknown node":            {"node update --availability drain node-9", "Error response from daemon: node node-9 not found"},
		"a node to be like":          {"node add --like node-9", "Error response from daemon: node node-9 not found"},
		"a node's name that is used": {"node add --like node-1 node-2", "there is a node node-2 already"},
		"an unknown network":         {"service create --network nowhere image", "Error response from daemon: network nowhere not found"},
		"too little memory":          {"service update --reserve-memory 1M web", managers + "InvalidArgument desc = invalid memory value 1048576: Must be at least 4MiB"},
		"too little CPU":             {"service update --reserve-cpu 0.0001 web", managers + "InvalidArgument desc = invalid cpu value 0.0001: Must be at least 0.001"},
		"a constraint's operator":    {"service create --constraint node.id=x image", managers + "Unknown desc = constraint expected one operator from ==, !="},
		"a name that is used":        {"service create --name web image", managers + "AlreadyExists desc = name conflicts with an existing object: service web already exists"},
		"a name that is none":        {"service create --name a/b image", managers + "InvalidArgument desc = name must be valid as a DNS name component"},
		"replicas of a global one":   {"service create --mode global --replicas 2 image", "replicas can only be used with replicated or replicated-job mode"},
		"two services on a port":     {"service create -p 80:80 -p 80:81 image", managers + "InvalidArgument desc = EndpointSpec: duplicate published ports provided"},
		"the last manager":           {"node update --role worker node-1", managers + "FailedPrecondition desc = attempting to demote the last manager of the swarm"},
		"a label that is not there":  {"node update --label-rm nope node-1", "key nope doesn't exist in node's labels"},
		"too few arguments":          {"service update", "'docker service update' requires 1 argument"},
		"half a number of replicas":  {"service scale web=x", "invalid replicas value"},
		"a stack without a file":     {"stack deploy shop", "Specify a Compose file"},
		"no way back":                {"service update --rollback api", "does not have a previous spec"},
		"a command that only shows":  {"service ls", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change, err := run(t, cases+"healthy", strings.Fields(test.args)...)
			if change != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("got %v, want %q; would change %+v", err, test.says, change)
			}
		})
	}
}
