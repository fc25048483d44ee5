package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhyOfWhatIsWell(t *testing.T) {
	const healthy, drained = "testdata/cases/healthy", "testdata/cases/drained"
	for name, c := range map[string]struct {
		args   []string
		status int
		says   []string
		hides  string
	}{
		"everything":                   {[]string{"--from", healthy}, 0, []string{"Nothing is stuck. Nodes: 3.\n"}, ""},
		"a service":                    {[]string{"web", "--from", healthy}, 0, []string{"web is not stuck: 3 of 3 tasks run.\n"}, "Nothing"},
		"a service that may get stuck": {[]string{"web", "--from", "testdata/cases/restart-exhausted"}, 0, []string{"web is not stuck yet: 0 of 1 tasks run, 1 failed.\n"}, "Nothing"},
		"a task":                       {[]string{"web.2", "--from", healthy}, 0, []string{"web.2 is not stuck.\n"}, "Nothing"},
		"a node":                       {[]string{"--node", "node-3", "--from", healthy}, 0, []string{"Nothing that should run on node-3 is stuck.\n"}, "drained"},
		"a node that takes no tasks, which holds a service up": {
			[]string{"--node", "node-3", "--from", drained}, 2, []string{"web is down", "node-3 is drained: its tasks were moved away"}, "Nothing",
		},
		"a node that takes tasks, beside a service that waits for another": {
			[]string{"--node", "node-1", "--from", drained}, 0, []string{"Nothing that should run on node-1 is stuck.\n"}, "drained",
		},
		"parts that can be done without": {
			[]string{"--from", part(t, "nodes.json", "services.json", "tasks.json")}, 0,
			[]string{"No stuck service among what was seen. Nodes: 3.", "not seen: networks:"}, "Nothing is stuck",
		},
		"no task of services that want some": {
			[]string{"--from", part(t, "nodes.json", "services.json", "networks.json", "info.json", "tasks.json=[]")}, 0,
			[]string{"No stuck service among what was seen. Nodes: 3.", "not seen: tasks.json: it is empty, though"}, "Nothing is stuck",
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := swarmdiag(t, append([]string{"why"}, c.args...)...)
			if status != c.status || stderr != "" {
				t.Errorf("status %d, want %d\n%s", status, c.status, stderr)
			}
			for _, want := range c.says {
				if !strings.Contains(stdout, want) {
					t.Errorf("does not say %q:\n%s", want, stdout)
				}
			}
			if c.hides != "" && strings.Contains(stdout, c.hides) {
				t.Errorf("says %q:\n%s", c.hides, stdout)
			}
		})
	}
}

func TestWhyOfAServiceThatIsWellIsJSONAndYAMLToo(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		status, stdout, stderr := swarmdiag(t, "why", "web", "--from", "testdata/cases/healthy", "--format", format)
		if status != 0 || stderr != "" {
			t.Errorf("status %d, want 0\n%s", status, stderr)
		}
		golden(t, "why/well."+format, stdout)
	}
}

func TestWhyLooksWhereTheAgentDoes(t *testing.T) {
	wasEngine, wasControl := engineSockets, controlSockets
	t.Cleanup(func() { engineSockets, controlSockets = wasEngine, wasControl })
	t.Setenv("DOCKER_HOST", "")
	engine := strings.TrimPrefix(serveInfo(t, "unix").Host(), "unix://")
	control := filepath.Join(t.TempDir(), "control.sock")
	listener, err := net.Listen("unix", control)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close() // no manager
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-closed })
	for name, c := range map[string]struct {
		engines, controls, args []string
		says                    string
	}{
		"the engine's socket":                          {[]string{"/nonexistent", engine}, []string{control}, nil, engine + ": this engine is not part of a swarm"},
		"a control socket alone":                       {nil, []string{"/nonexistent", control}, nil, control},
		"the engine's socket where control is refused": {[]string{engine}, []string{control}, []string{"--control-socket", "none"}, engine + ": this engine"},
		"the host that is named":                       {[]string{engine}, []string{control}, []string{"-H", "unix:///nonexistent.sock"}, "/nonexistent.sock"},
	} {
		t.Run(name, func(t *testing.T) {
			engineSockets, controlSockets = c.engines, c.controls
			status, _, stderr := swarmdiag(t, append(c.args, "why")...)
			if c.args != nil && c.args[0] == "--control-socket" {
				status, _, stderr = swarmdiag(t, append([]string{"why"}, c.args...)...)
			}
			if status != 1 || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d, want 1 and %q\n%s", status, c.says, stderr)
			}
		})
	}
}

func TestTheDemoKeepsItsSocketsWhereTheirPathsFit(t *testing.T) {
	t.Parallel()
	long := "/var/folders/" + strings.Repeat("x", longestTempDir)
	for own, want := range map[string]string{"/tmp/me": "/tmp/me", long: "/tmp"} {
		if got := tempDir(own); got != want {
			t.Errorf("tempDir(%q) = %q, want %q", own, got, want)
		}
	}
	if n := len(filepath.Join(long[:longestTempDir], "swarmdiag1234567890", "control.sock")); n > 107 {
		t.Errorf("a path of %d bytes", n)
	}
}

func TestADumpWithoutNodesStillGivesDockersWord(t *testing.T) {
	var files []string
	for _, name := range []string{"services.json", "tasks.json"} {
		text, err := os.ReadFile(filepath.Join("testdata/cases/memory-fragmented", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, name+"="+string(text))
	}
	status, stdout, _ := swarmdiag(t, "why", "--from", part(t, files...))
	for _, want := range []string{"unexplained", "no suitable node (", "not seen: nodes: no `docker node inspect` output"} {
		if status != 2 || !strings.Contains(stdout, want) {
			t.Errorf("status %d, want 2 and %q:\n%s", status, want, stdout)
		}
	}
}
