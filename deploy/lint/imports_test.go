// Package lint holds the project's folders to their rules: which may import which, and which must stay pure.
package lint

import (
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/swarmdiag/swarmdiag/"

// layers are the folders in the order in which they may import each other: each itself and those before it.
var layers = []string{"probes", "collector", "analyzer", "exporter", "cmd"}

// onlyImporters are the only folders that may import a package.
var onlyImporters = map[string][]string{
	"github.com/docker/docker/client": {"collector/engine", "analyzer/whatif/dockercli"},
}

// forTestsOnly are packages of ours that only tests import.
var forTestsOnly = []string{"analyzer/oracle"}

// impure are packages that would let the analyzer ask something else than its arguments.
var impure = []string{"net/http", "os", "os/exec", "syscall", "math/rand", "math/rand/v2", "github.com/sirupsen/logrus"}

// silencer is the folder that may import the logger: to keep quiet what swarmkit's scheduler says of a copy.
const silencer = "analyzer/remedy"

// vague are names that say nothing about what is in a folder.
var vague = []string{"util", "utils", "common", "helpers", "types", "models", "pkg", "internal"}

func TestFoldersImportInOneDirection(t *testing.T) {
	t.Parallel()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if len(lines) < len(layers) {
		t.Fatalf("go list names %d packages of this module", len(lines))
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		for _, violation := range violations(fields[0], fields[1:]) {
			t.Error(violation)
		}
	}
}

func TestForbiddenImportsAreFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		folder  string
		imports []string
		want    []string
	}{
		"downwards":                  {"analyzer/filters", []string{"fmt", module + "collector", module + "analyzer/spelling"}, nil},
		"upwards":                    {"collector/watch", []string{module + "analyzer"}, []string{"collector/watch imports analyzer"}},
		"cmd shows the demo":         {"cmd/swarmdiag", []string{module + "deploy/embedded"}, nil},
		"the product needs a swarm":  {"exporter", []string{module + "deploy/embedded"}, []string{"exporter imports deploy/embedded"}},
		"a second client":            {"cmd/swarmdiag", []string{"github.com/docker/docker/client"}, []string{"cmd/swarmdiag imports github.com/docker/docker/client: only collector/engine and analyzer/whatif/dockercli may"}},
		"the engine's folder":        {"collector/engine", []string{"github.com/docker/docker/client"}, nil},
		"an analyzer that asks":      {"analyzer", []string{"os"}, []string{"analyzer imports os: it is pure"}},
		"the scheduler is silenced":  {"analyzer/remedy", []string{"github.com/sirupsen/logrus"}, nil},
		"an analyzer that logs":      {"analyzer/capacity", []string{"github.com/sirupsen/logrus"}, []string{"analyzer/capacity imports github.com/sirupsen/logrus: it is pure"}},
		"an analyzer's test harness": {"analyzer/analyzertest", []string{"os", "testing"}, nil},
		"the product draws clusters": {"exporter", []string{module + "analyzer/oracle"}, []string{"exporter imports analyzer/oracle"}},
		"tests in the product":       {"exporter", []string{"testing"}, []string{"exporter imports testing"}},
		"a name that says nothing":   {"collector/util", nil, []string{"collector/util: name the concept"}},
		"a folder of no layer":       {"stray", nil, []string{"stray: no such layer"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, violations(module+test.folder, test.imports)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// violations names what is wrong with the imports of a package.
func violations(importPath string, imports []string) []string {
	var found []string
	complain := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	folder := strings.TrimPrefix(importPath, module)
	top, _, _ := strings.Cut(folder, "/")
	if top != "deploy" && !slices.Contains(layers, top) {
		complain("%s: no such layer", folder)
	}
	if slices.Contains(vague, path.Base(folder)) {
		complain("%s: name the concept", folder)
	}
	forTests := strings.HasSuffix(folder, "test") || top == "deploy"
	for _, imported := range imports {
		if own, ok := strings.CutPrefix(imported, module); ok {
			if !mayImport(top, own) || slices.Contains(forTestsOnly, own) {
				complain("%s imports %s", folder, own)
			}
			continue
		}
		if only := onlyImporters[imported]; only != nil && !slices.Contains(only, folder) {
			complain("%s imports %s: only %s may", folder, imported, strings.Join(only, " and "))
		}
		if imported == "testing" && !forTests {
			complain("%s imports testing", folder)
		}
		if top == "analyzer" && !forTests && slices.Contains(impure, imported) && !(folder == silencer && imported == "github.com/sirupsen/logrus") {
			complain("%s imports %s: it is pure", folder, imported)
		}
	}
	return found
}

// mayImport tells whether packages of a top folder may import another one of ours.
func mayImport(top, imported string) bool {
	other, _, _ := strings.Cut(imported, "/")
	switch {
	case top == "deploy":
		return true
	case other == "deploy":
		return top == "cmd"
	}
	return slices.Index(layers, other) <= slices.Index(layers, top)
}
