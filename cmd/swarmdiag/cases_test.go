package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// expected is what a recorded case must give: one stuck service, its cause, and the amounts that one evidence holds.
type expected struct {
	Service, Cause, Shape string
	Names                 []string
	Evidence              map[string]any
}

// Each folder of testdata/cases was recorded on a real swarm of three nodes with Docker 27.5.1. What it must give stands apart
// from it, in testdata/expected: a dump that somebody looks at holds nothing else.
func TestRecordedCasesGiveTheirCause(t *testing.T) {
	folders, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, folder := range folders {
		wanted := readExpected(t, folder)
		if !slices.ContainsFunc(analyzer.Rules(), func(r *analyzer.Rule) bool { return wanted == nil || r.Cause == wanted.Cause }) {
			continue // a cause that no rule names yet
		}
		t.Run(filepath.Base(folder), func(t *testing.T) {
			status, stdout, stderr := swarmdiag(t, "why", "--from", folder, "--format", "json")
			var result analyzer.Result
			if err := json.Unmarshal([]byte(stdout), &result); err != nil {
				t.Fatalf("status %d: %v\n%s%s", status, err, stdout, stderr)
			}
			if wanted == nil {
				if status != 0 || len(result.Diagnoses) > 0 {
					t.Errorf("a healthy swarm gives status %d and %v", status, result.Diagnoses)
				}
				return
			}
			if status != 2 {
				t.Errorf("status %d, want 2", status)
			}
			compareWithExpected(t, result, wanted)
		})
	}
}

// readExpected returns nil for a case in which nothing is wrong.
func readExpected(t *testing.T, folder string) *expected {
	text, err := os.ReadFile(filepath.Join("testdata/expected", filepath.Base(folder)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(text)) == "[]" {
		return nil
	}
	var wanted expected
	if err := json.Unmarshal(text, &wanted); err != nil {
		t.Fatal(err)
	}
	return &wanted
}

func compareWithExpected(t *testing.T, result analyzer.Result, wanted *expected) {
	if len(result.Diagnoses) != 1 {
		t.Fatalf("%d diagnoses, want one: %v", len(result.Diagnoses), result.Diagnoses)
	}
	d := result.Diagnoses[0]
	if d.Service != wanted.Service || d.Cause != wanted.Cause || d.Shape != wanted.Shape {
		t.Errorf("%s: %s %s, want %s: %s %s", d.Service, d.Cause, d.Shape, wanted.Service, wanted.Cause, wanted.Shape)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range wanted.Names {
		if !strings.Contains(string(text), name) {
			t.Errorf("%q is not named in %s", name, text)
		}
	}
	if wanted.Evidence != nil && !slices.ContainsFunc(d.Evidence, func(e analyzer.Evidence) bool { return holds(t, e, wanted.Evidence) }) {
		t.Errorf("no evidence holds %v: %+v", wanted.Evidence, d.Evidence)
	}
}

func holds(t *testing.T, e analyzer.Evidence, amounts map[string]any) bool {
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var has map[string]any
	if err := json.Unmarshal(text, &has); err != nil {
		t.Fatal(err)
	}
	for name, want := range amounts {
		number, isNumber := want.(float64)
		if got, ok := has[name].(float64); isNumber && ok && math.Abs(got-number) <= 1e-6*math.Abs(number) {
			continue
		}
		if has[name] != want {
			return false
		}
	}
	return true
}

// swarmdiag runs the program in this process. Docker's command line sets variables of its packages: one run at a time.
func swarmdiag(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = run(t.Context(), append([]string{"swarmdiag"}, args...), io.NopCloser(strings.NewReader("")), &out, &err)
	return status, out.String(), err.String()
}

func TestBadInputGetsASentenceAndStatus1(t *testing.T) {
	half := filepath.Join(t.TempDir(), "half.json")
	if err := os.WriteFile(half, []byte(`[{"ID": "x", `), 0o600); err != nil {
		t.Fatal(err)
	}
	notSocket := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notSocket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a folder that does not exist":          {[]string{"why", "--from", filepath.Join(t.TempDir(), "none")}, "no such file"},
		"an empty folder":                       {[]string{"why", "--from", t.TempDir()}, "docker node, service"},
		"half JSON":                             {[]string{"why", "--from", half}, "half.json"},
		"a service that does not exist":         {[]string{"why", "wbe", "--from", "testdata/cases/healthy"}, "did you mean web?"},
		"a node that does not exist":            {[]string{"why", "--node", "node-9", "--from", "testdata/cases/healthy"}, "did you mean node-1"},
		"a stack that does not exist":           {[]string{"why", "--stack", "shop", "--from", "testdata/cases/healthy"}, "no stack is named"},
		"an unknown format":                     {[]string{"why", "--format", "xml"}, "one of table, wide, json, yaml"},
		"an unknown threshold state":            {[]string{"why", "--threshold", "waiting=3s"}, "the states are none"},
		"a threshold without a duration":        {[]string{"why", "--threshold", "pending=soon"}, "want a duration"},
		"an unknown command":                    {[]string{"wy"}, "there is no command"},
		"an unknown flag":                       {[]string{"why", "--frm", "x"}, "unknown flag"},
		"no engine behind the socket":           {[]string{"-H", "unix:///nonexistent/docker.sock", "why"}, "/nonexistent/docker.sock"},
		"no control socket":                     {[]string{"why", "--control-socket", "/nonexistent/control.sock"}, "/nonexistent/control.sock"},
		"a control socket that is none":         {[]string{"why", "--control-socket", notSocket}, notSocket},
		"two sources at once":                   {[]string{"why", "--from", "x", "--control-socket", "y"}, "exclude each other"},
		"an agent that is not there":            {[]string{"healthcheck", "--listen", "127.0.0.1:1"}, "ask the agent"},
		"a cause that does not exist":           {[]string{"causes", "gremlins"}, "there is no cause \"gremlins\": the causes are "},
		"a part of a cause":                     {[]string{"causes", "memory"}, "did you mean insufficient-memory?"},
		"a part of a cause, misspelt":           {[]string{"causes", "memroy"}, "did you mean insufficient-memory?"},
		"a part of several causes":              {[]string{"causes", "insufficient"}, "did you mean insufficient-cpu or insufficient-memory or insufficient-generic-resource?"},
		"an empty service":                      {[]string{"why", "", "--from", "testdata/cases/healthy"}, "a name is empty"},
		"an empty path":                         {[]string{"why", "--from", ""}, "--from\" flag: it is empty: give a value"},
		"an empty node":                         {[]string{"why", "--node="}, "--node\" flag: it is empty: give a value"},
		"an empty object":                       {[]string{"why", "--from", written(t, "a.json", "{}")}, "docker node, service"},
		"an empty array":                        {[]string{"nodes", "--from", written(t, "a.json", "[]")}, "docker node, service"},
		"a dump without tasks":                  {[]string{"why", "--from", part(t, "nodes.json", "services.json")}, "lacks the tasks. On a manager, in the same folder, run\n\n{ docker service ls"},
		"a dump without services":               {[]string{"why", "--from", part(t, "nodes.json", "tasks.json")}, "docker service inspect > services.json"},
		"a dump of nodes":                       {[]string{"why", "--from", part(t, "nodes.json")}, "what is stuck cannot be told from it, since it lacks the services and the tasks"},
		"nodes without tasks":                   {[]string{"nodes", "--from", part(t, "nodes.json", "services.json")}, "what is free on the nodes cannot be told from it, since it lacks the tasks"},
		"a snapshot into a folder that is none": {[]string{"snapshot", "--from", "testdata/cases/healthy", "-o", "/nonexistent/x.json"}, "create snapshot"},
		"a token file that is not there":        {[]string{"agent", "--token-file", "/nonexistent/token"}, "read the token"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := swarmdiag(t, c.args...)
			if status != 1 || stdout != "" || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "goroutine") {
				t.Errorf("status %d, want 1 and %q\nstdout: %s\nstderr: %s", status, c.says, stdout, stderr)
			}
		})
	}
}

// written is the path of a new file.
func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// part is a folder with some files of the healthy swarm; a name with "=" is a file with that content.
func part(t *testing.T, files ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range files {
		name, content, given := strings.Cut(name, "=")
		if !given {
			text, err := os.ReadFile(filepath.Join("testdata/cases/healthy", name))
			if err != nil {
				t.Fatal(err)
			}
			content = string(text)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestASnapshotGivesTheSameDiagnoses(t *testing.T) {
	const folder = "testdata/cases/memory-fragmented"
	file := filepath.Join(t.TempDir(), "snapshot.json")
	if status, _, stderr := swarmdiag(t, "snapshot", "--from", folder, "-o", file); status != 0 {
		t.Fatal(stderr)
	}
	_, before, _ := swarmdiag(t, "why", "--from", folder, "--format", "json")
	_, after, _ := swarmdiag(t, "why", "--from", file, "--format", "json")
	if before != after {
		t.Errorf("from the folder:\n%s\nfrom the snapshot:\n%s", before, after)
	}
	if info, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || info.Mode().Perm() != 0o600 {
		t.Errorf("the snapshot has mode %v", info.Mode())
	}
}
