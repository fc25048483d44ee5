package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector/dump"
	"github.com/swarmdiag/swarmdiag/deploy/embedded"
)

func TestTheCatalogueIsCurrent(t *testing.T) {
	status, want, stderr := swarmdiag(t, "causes", "--markdown")
	if status != 0 {
		t.Fatal(stderr)
	}
	if diff := cmp.Diff(want, document(t, "docs/causes.md")); diff != "" {
		t.Errorf("run make docs\n%s", diff)
	}
}

func TestTheReadmeListsEveryCause(t *testing.T) {
	readme := document(t, "README.md")
	for _, rule := range analyzer.Rules() {
		if row := fmt.Sprintf("| %s | `%s` | %s |\n", rule.Component, rule.Cause, rule.Title); !strings.Contains(readme, row) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
	}
}

func TestTheReadmeSaysHowToMakeADump(t *testing.T) {
	if !strings.Contains(document(t, "README.md"), "```sh\n"+dump.HowTo+"```") {
		t.Errorf("README.md lacks these lines:\n%s", dump.HowTo)
	}
}

// The README shows all that swarmdiag says of a swarm that was recorded, to the last line.
func TestTheReadmeShowsWhatIsSaid(t *testing.T) {
	example := regexp.MustCompile("(?s)\\$ swarmdiag (why --from (?:cmd/swarmdiag/)?\\S+)\n(.*?)\n```").FindStringSubmatch(document(t, "README.md"))
	if example == nil {
		t.Fatal("README.md has no example of swarmdiag why --from")
	}
	args := strings.Fields(strings.ReplaceAll(example[1], "cmd/swarmdiag/", ""))
	_, said, stderr := swarmdiag(t, args...)
	said = strings.TrimRight(said, "\n")
	if diff := cmp.Diff(said, example[2]); diff != "" {
		t.Errorf("swarmdiag %s (-) and README.md (+) differ:\n%s%s", example[1], diff, stderr)
	}
}

func TestTheReadmeCountsTheFaultsOfTheDemo(t *testing.T) {
	planted := embedded.Faults()
	readme := document(t, "README.md")
	if said := fmt.Sprintf("All %d planted faults are named", len(planted)); !strings.Contains(readme, said) {
		t.Errorf("README.md lacks %q", said)
	}
	_, missing, _ := strings.Cut(readme, "Not in it are")
	missing, _, _ = strings.Cut(missing, ".")
	for _, rule := range analyzer.Rules() {
		isPlanted := slices.ContainsFunc(planted, func(p embedded.Planted) bool { return p.Cause == rule.Cause })
		if saidMissing := strings.Contains(missing, "`"+rule.Cause+"`"); saidMissing == isPlanted {
			t.Errorf("%s is in the demo: %t; README.md says that it is not: %t", rule.Cause, isPlanted, saidMissing)
		}
	}
}

func TestOnePortIsDocumented(t *testing.T) {
	port := strings.TrimPrefix(defaultListen, ":")
	for _, path := range []string{"README.md", "deploy/Dockerfile", "deploy/stack.yml", "deploy/prometheus/prometheus.yml"} {
		if !strings.Contains(document(t, path), port) {
			t.Errorf("%s does not name the agents' port %s", path, port)
		}
	}
}

// The line and the stack are two ways to the same service, and are changed together.
func TestTheServiceLineAndTheStackAgree(t *testing.T) {
	line := regexp.MustCompile(`(?m)^docker service create (?:.*\\\n)+.*$`).FindString(document(t, "README.md"))
	stack := document(t, "deploy/stack.yml")
	for option, setting := range map[string]string{
		"--mode global":                                  "mode: global",
		"--constraint node.platform.os==linux":           "- node.platform.os==linux",
		"--network bridge":                               "name: bridge",
		"--publish mode=host,published=9797,target=9797": "mode: host",
		"source=/run,target=/host/run,readonly":          "target: /host/run",
		"bind-nonrecursive":                              "o: bind,private",
		"--env SWARMDIAG_NODE_ID='{{.Node.ID}}'":         `SWARMDIAG_NODE_ID: "{{.Node.ID}}"`,
		"--env GOMEMLIMIT=400MiB":                        "GOMEMLIMIT: 400MiB",
		"--cap-drop ALL":                                 "cap_drop:\n      - ALL",
		"--read-only":                                    "\n    read_only: true",
		"--limit-cpu 1 --limit-memory 512M":              "limits:\n          cpus: \"1\"\n          memory: 512M",
		"--reserve-memory 16M":                           "reservations:\n          memory: 16M",
		"--log-driver json-file":                         "driver: json-file",
		"--log-opt max-size=10m --log-opt max-file=3":    "max-size: 10m\n        max-file: \"3\"",
		"--update-parallelism 30":                        "update_config:\n        parallelism: 30",
		"--update-failure-action pause":                  "failure_action: pause",
		"--update-max-failure-ratio 0.1":                 "max_failure_ratio: 0.1",
		"--rollback-parallelism 30":                      "rollback_config:\n        parallelism: 30",
		"\n  swarmdiag:latest":                           "swarmdiag:latest",
	} {
		if !strings.Contains(line, option) || !strings.Contains(stack, setting) {
			t.Errorf("want %q in the README's docker service create and %q in deploy/stack.yml", option, setting)
		}
	}
}

// document reads a file by its path from the project's root.
func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
