package main

import (
	"bytes"
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
		"everything": {[]string{"--from", healthy}, 0, []string{"Nothing is stuck. Nodes: 3.\n"}, ""},
		"a service":  {[]string{"web", "--from", healthy}, 0, []string{"web is not stuck: 3 of 3 tasks run.\n"}, "Nothing"},
		"a service that may get stuck": {
			[]string{"web", "--from", changed(t, "net-exhausted", "info.json", dated("2026-12-01T04:21:54Z"))}, 0,
			[]string{"web is not stuck yet: 0 of 9 tasks run, 4 new, 5 preparing.\n"}, "Nothing",
		},
		"a task": {[]string{"web.2", "--from", healthy}, 0, []string{"web.2 is not stuck.\n"}, "Nothing"},
		"a node": {[]string{"--node", "node-3", "--from", healthy}, 0, []string{"Nothing that should run on node-3 is stuck.\n"}, "drained"},
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

func TestADumpThatDoesNotTellItsTimeSaysSoAndCallsNothingYoung(t *testing.T) {
	const says = "not seen: time: no SystemTime of `docker info`"
	for name, c := range map[string]struct {
		from   string
		status int
		says   []string
		hides  string
	}{
		"tasks that are new, for nobody knows how long": {
			"testdata/cases/net-exhausted", 2, []string{"4 tasks new, the first for a time that is not known, and no rule says why", "confidence   possible", says}, "stuck yet",
		},
		"the same without docker info": {changed(t, "net-exhausted", "info.json", gone), 2, []string{"4 tasks new, the first for a time that is not known", says}, "stuck yet"},
		"a time that is no time":       {changed(t, "net-exhausted", "info.json", dated("yesterday")), 2, []string{says}, "stuck yet"},
		"tasks that are new, since long": {
			changed(t, "net-exhausted", "info.json", dated("2026-12-01T05:21:54Z")), 2, []string{"4 tasks new, the first for 1h0m"}, "not seen: time",
		},
		"tasks that are just new": {
			changed(t, "net-exhausted", "info.json", dated("2026-12-01T04:21:54Z")), 0, nil, "not seen: time",
		},
		"restarts that are used up": {"testdata/cases/restart-exhausted", 2, []string{"1 task failed, the first for at least 3s", says}, "stuck yet"},
		"restarts that are used up, a moment ago": {
			changed(t, "restart-exhausted", "info.json", dated("2026-12-01T04:23:44Z")), 2, []string{"1 task failed, the first for 4s"}, "not seen: time",
		},
		"what the state proves, whatever the time": {"testdata/cases/memory-exceeds", 2, []string{"insufficient-memory"}, "not seen: time"},
		"what is well, whatever the time":          {"testdata/cases/healthy", 0, []string{"Nothing is stuck."}, "not seen"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := swarmdiag(t, "why", "--remedy-time", "0", "--from", c.from)
			if status != c.status || strings.Contains(stdout, c.hides) {
				t.Errorf("status %d, want %d and nothing of %q\n%s%s", status, c.status, c.hides, stdout, stderr)
			}
			for _, want := range c.says {
				if !strings.Contains(stdout, want) {
					t.Errorf("does not say %q:\n%s", want, stdout)
				}
			}
		})
	}
}

func TestASnapshotOfADumpWithoutATimeHasNoneEither(t *testing.T) {
	file := filepath.Join(t.TempDir(), "snapshot.json")
	if status, _, stderr := swarmdiag(t, "snapshot", "--from", "testdata/cases/net-exhausted", "-o", file); status != 0 {
		t.Fatal(stderr)
	}
	if status, stdout, _ := swarmdiag(t, "why", "--remedy-time", "0", "--from", file); status != 2 || !strings.Contains(stdout, "not seen: time") {
		t.Errorf("status %d\n%s", status, stdout)
	}
}

func TestADumpWithoutNodesSaysThatWhatWaitsCannotBeJudged(t *testing.T) {
	lacks := []string{`why web waits for a node, of which Docker says "no suitable node (insufficient resources on 3 nodes)", cannot be told from it`, "> nodes.json"}
	for name, c := range map[string]struct {
		folder string
		status int
		says   []string
	}{
		"a task waits":                      {"memory-fragmented", 1, lacks},
		"a task of a service that fails":    {"restart-exhausted", 2, []string{"1 task failed", "not seen: nodes: no `docker node inspect` output"}},
		"nothing waits":                     {"healthy", 0, []string{"No stuck service among what was seen.", "not seen: nodes"}},
		"a global service that has no task": {"global-no-node", 1, []string{"why web has no task cannot be told from it", "> nodes.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := swarmdiag(t, "why", "--from", changed(t, c.folder, "nodes.json", gone))
			if said := stdout + stderr; status != c.status || strings.Contains(stderr, "unexplained") {
				t.Errorf("status %d, want %d\n%s", status, c.status, said)
			}
			for _, want := range c.says {
				if !strings.Contains(stdout+stderr, want) {
					t.Errorf("does not say %q:\n%s%s", want, stdout, stderr)
				}
			}
		})
	}
}

// gone is a change that takes a file away.
func gone([]byte) []byte { return nil }

// dated is a change of docker info: the time that it tells.
func dated(time string) func([]byte) []byte {
	return func(info []byte) []byte {
		return bytes.Replace(info, []byte("{"), []byte(`{"SystemTime": "`+time+`",`), 1)
	}
}

// changed is a copy of a recorded case with one file changed.
func changed(t *testing.T, recorded, file string, change func([]byte) []byte) string {
	t.Helper()
	folder, from := t.TempDir(), filepath.Join("testdata/cases", recorded)
	for _, name := range []string{"nodes.json", "services.json", "tasks.json", "networks.json", "info.json"} {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == file {
			if content = change(content); content == nil {
				continue
			}
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
