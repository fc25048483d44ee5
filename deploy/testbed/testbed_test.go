package testbed

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsBecomeArguments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"what is not set is left to the command": {Options{Name: "a"}, "up a"},
		"everything set": {
			Options{Name: "a", Nodes: 3, Managers: 2, Docker: Docker20, Labels: []string{"1:rack=r1", "2:rack=r2"}, Generic: []string{"1:gpu=1"}},
			"up a --nodes 3 --managers 2 --docker 20.10 --label 1:rack=r1 --label 2:rack=r2 --generic 1:gpu=1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, strings.Join(test.options.arguments(), " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWrongUsageIsExplained(t *testing.T) {
	t.Parallel()
	const usage = 2
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"an unknown command":                 {[]string{"start-all"}, "unknown command 'start-all'"},
		"up without a name":                  {[]string{"up"}, "up wants a name first"},
		"a name that would leave its folder": {[]string{"up", "../a"}, "name '../a'"},
		"no nodes":                           {[]string{"up", "a", "--nodes", "0"}, "--nodes 0: want 1 to 99"},
		"more managers than nodes":           {[]string{"up", "a", "--nodes", "2", "--managers", "3"}, "--managers 3: want 1 to 2"},
		"a Docker that cannot be had":        {[]string{"up", "a", "--docker", "19.03"}, "--docker 19.03: want 28.5.2, 27.5.1 or 20.10"},
		"a label for no node":                {[]string{"up", "a", "--label", "rack=r1"}, "'rack=r1': want NODE:KEY=VALUE"},
		"an option without its value":        {[]string{"up", "a", "--nodes"}, "--nodes: no value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := command()
			if err != nil {
				t.Fatal(err)
			}
			output, err := exec.CommandContext(t.Context(), path, test.args...).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != usage {
				t.Errorf("got %v, want exit status %d", err, usage)
			}
			if !strings.Contains(string(output), test.says) {
				t.Errorf("says %q, want %q", output, test.says)
			}
		})
	}
}
