// Package analyzertest runs the recorded cases of a rule. A case is a txtar file in testdata/<component>/<cause>: a
// sentence of what happened, the output of docker inspect in nodes.json, services.json, tasks.json and so on, and in want
// what the rule says of it. Objects may be given in short: what they leave out comes from the defaults of this package,
// and of a task from its service.
package analyzertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/dump"
)

var update = flag.Bool("update", false, "write what the rules say into the cases")

// The files of a case that hold what is expected: the rule's diagnoses, and what could not be seen, if anything.
const (
	fileWant  = "want"
	fileBlind = "blind"
)

// Run runs every case of a cause. A rule has at least one case that it finds, and one that it must leave alone. What the
// diagnoses of a case say that their checks show is held against what docker prints.
func Run(t *testing.T, cause string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", componentOf(t, cause), cause, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	found, nothing := 0, 0
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runCase(t, cause, name, archive)
		})
		if want, _ := file(archive, fileWant); string(want) == "[]\n" {
			nothing++
		} else {
			found++
		}
	}
	if !*update && (found == 0 || nothing == 0) {
		t.Errorf("%s has %d cases with a diagnosis and %d without: want both", cause, found, nothing)
	}
}

func componentOf(t *testing.T, cause string) string {
	t.Helper()
	for _, rule := range analyzer.Rules() {
		if rule.Cause == cause {
			return string(rule.Component)
		}
	}
	t.Fatalf("no rule has the cause %q", cause)
	return ""
}

func runCase(t *testing.T, cause, name string, archive *txtar.Archive) {
	t.Helper()
	if strings.TrimSpace(string(archive.Comment)) == "" {
		t.Error("the case does not begin with a sentence of what happened")
	}
	files := complete(t, archive)
	result := analyze(t, files)
	for _, d := range result.Diagnoses {
		for _, check := range d.Check {
			verify(t, files, check)
		}
	}
	got := map[string]string{fileWant: encode(t, golden(result, cause)), fileBlind: lines(result.Blind)}
	if *update {
		rewrite(t, name, archive, got)
		return
	}
	for _, name := range []string{fileWant, fileBlind} {
		want, _ := file(archive, name)
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got[name], "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// analyze asks at once, however young the tasks are.
func analyze(t *testing.T, files map[string][]byte) analyzer.Result {
	t.Helper()
	state, now := readDump(t, files)
	return analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true})
}

// readDump writes the files as a dump, and reads it as the command line does.
func readDump(t *testing.T, files map[string][]byte) (*collector.State, time.Time) {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	state, now, err := dump.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return state, now
}

func file(archive *txtar.Archive, name string) (content []byte, ok bool) {
	for _, f := range archive.Files {
		if f.Name == name {
			return f.Data, true
		}
	}
	return nil, false
}

func lines(sentences []string) string {
	if len(sentences) == 0 {
		return ""
	}
	return strings.Join(sentences, "\n") + "\n"
}

func encode(t *testing.T, value any) string {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// rewrite replaces what the case expects, and nothing else in it.
func rewrite(t *testing.T, name string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	kept := archive.Files[:0]
	for _, f := range archive.Files {
		if f.Name != fileWant && f.Name != fileBlind {
			kept = append(kept, f)
		}
	}
	for _, expected := range []string{fileBlind, fileWant} {
		if got[expected] != "" {
			kept = append(kept, txtar.File{Name: expected, Data: []byte(got[expected])})
		}
	}
	archive.Files = kept
	if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
