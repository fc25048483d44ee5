package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asProgram makes the test binary be swarmdiag: docker calls its plugins by the name of their file.
const asProgram = "SWARMDIAG_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestNamesAreCompleted(t *testing.T) {
	t.Parallel()
	const (
		from        = "testdata/cases/drained"
		alone, asks = "swarmdiag", "docker-swarmdiag" // docker asks a plugin so: cli-plugins/manager.AddPluginCommandStubs
	)
	for name, c := range map[string]struct {
		program string
		args    []string
		want    []string
	}{
		"services":                          {alone, []string{"__complete", "why", "--from", from, ""}, []string{"web"}},
		"services that are not named yet":   {alone, []string{"__complete", "why", "--from", from, "web", ""}, nil},
		"nodes":                             {alone, []string{"__complete", "why", "--from", from, "--node", ""}, []string{"node-1", "node-2", "node-3"}},
		"causes that begin so":              {alone, []string{"__complete", "causes", "insufficient-m"}, []string{"insufficient-memory"}},
		"nothing where nothing can be read": {alone, []string{"__complete", "-H", "unix:///nonexistent.sock", "why", ""}, nil},
		"services, for docker":              {asks, []string{"__complete", "swarmdiag", "why", "--from", from, ""}, []string{"web"}},
		"nodes, for docker":                 {asks, []string{"__completeNoDesc", "swarmdiag", "why", "--from", from, "--node", "node-"}, []string{"node-1", "node-2", "node-3"}},
		"causes, for docker":                {asks, []string{"__complete", "swarmdiag", "causes", "max"}, []string{"max-replicas-reached"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, completed(t, c.program, c.args)); diff != "" {
				t.Errorf("%s %q (-want +got):\n%s", c.program, c.args, diff)
			}
		})
	}
}

// completed runs the program by a name and returns what it offers.
func completed(t *testing.T, name string, args []string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), self, args...)
	command.Args[0] = filepath.Join("/usr/libexec/docker/cli-plugins", name)
	command.Env = append(os.Environ(), asProgram+"=1", "DOCKER_HOST=unix:///nonexistent.sock", "DOCKER_CONFIG="+t.TempDir())
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	var offered []string
	for line := range strings.Lines(string(out)) {
		if word := strings.TrimSpace(line); word != "" && !strings.HasPrefix(word, ":") {
			offered = append(offered, word)
		}
	}
	return offered
}
