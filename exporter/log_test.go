package exporter

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// fragmented is a diagnosis with everything in it that a line can show.
func fragmented() analyzer.Diagnosis {
	amount := func(v float64) *float64 { return &v }
	return diagnosed(memory, func(d *analyzer.Diagnosis) {
		d.ID, d.Shape, d.Slot, d.Stack = "0a1b2c3d4e5f", "fragmented", 2, "shop"
		d.Summary = "web is down: asks 6 GiB of memory; node-2 comes closest and lacks 2 GiB"
		d.DockerSays = "no suitable node (insufficient resources on 3 nodes)"
		d.Evidence = []analyzer.Evidence{{
			What: "memory", Unit: "bytes", Asked: amount(6 << 30), Free: amount(4 << 30), Short: amount(2 << 30), Node: "node-2",
			Holders: []analyzer.Holder{{Service: "db", Task: "holder", Amount: 4 << 30}},
		}}
		d.Check = []analyzer.Check{{Command: "docker node inspect -f '{{.Description.Resources.MemoryBytes}}' node-2", Shows: "8589934592"}}
		d.LastChange = &analyzer.LastChange{At: start.Add(-time.Minute), What: []string{"reservation memory 2 GiB -> 6 GiB", "argument --db-password=hunter2 added"}}
		d.Nodes = []analyzer.NodeGroup{{
			Names:    []string{"node-1", "node-2", "node-3"},
			Verdicts: map[string]string{"ready": "pass", "resources": "fail"}, Why: []string{"2 GiB of memory short"},
		}}
		d.Nearest = &analyzer.Nearest{Node: "node-2", Fails: []string{"resources"}, Short: []analyzer.Short{{What: "memory", Unit: "bytes", Short: 2 << 30}}}
	})
}

func TestLinesAreOneJSONObjectEach(t *testing.T) {
	t.Parallel()
	lowered := fragmented()
	lowered.Severity = analyzer.Warning
	orchestrated := diagnosed("no-eligible-node", func(d *analyzer.Diagnosis) {
		d.Component, d.Task, d.Tasks, d.State = analyzer.Orchestrator, "", 0, "none"
	})
	tests := []struct {
		name  string
		event Event
	}{
		{"stuck", Event{Kind: Stuck, At: start, Diagnosis: fragmented()}},
		{"changed", Event{Kind: Changed, At: start.Add(time.Minute), Diagnosis: lowered, Was: unplaced}},
		{"resolved", Event{
			Kind: Resolved, At: start.Add(time.Hour), Diagnosis: fragmented(), Lasted: 200500 * time.Millisecond,
			By: "node node-3: label token=hunter2 added",
		}},
		{"silenced", Event{Kind: Resolved, At: start.Add(time.Hour), Diagnosis: fragmented(), Lasted: time.Hour, By: silenced}},
		{"takeover", Event{Kind: Takeover, At: start, Open: map[string]int{memory: 2, constraint: 1}}},
		{"takeover-with-nothing-open", Event{Kind: Takeover, At: start, Open: map[string]int{}}},
		{"no-task", Event{Kind: Stuck, At: start, Diagnosis: orchestrated}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := NewLog(&out).Write(test.event); err != nil {
				t.Fatal(err)
			}
			if strings.Count(out.String(), "\n") != 1 || strings.Contains(out.String(), "hunter2") {
				t.Errorf("want one line without the password, got %s", out.String())
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, out.Bytes(), "", "  "); err != nil {
				t.Fatal(err)
			}
			golden(t, test.name+".json", indented.Bytes())
		})
	}
}

func TestATextLogIsReadAtATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := NewTextLog(&out)
	for _, event := range []Event{
		{Kind: Takeover, At: start, Open: map[string]int{memory: 1}},
		{Kind: Stuck, At: start, Diagnosis: fragmented()},
		{Kind: Changed, At: start.Add(time.Minute), Diagnosis: diagnosed(constraint), Was: memory},
		{Kind: Resolved, At: start.Add(time.Hour), Diagnosis: diagnosed(constraint), Lasted: time.Hour, By: "label token=hunter2\nadded"},
	} {
		if err := log.Write(event); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "log.txt", out.Bytes())
}

func TestEveryCauseOfTheSchedulerNamesItsFilter(t *testing.T) {
	t.Parallel()
	byCause := filtersByCause()
	for cause, want := range map[string]string{
		"insufficient-memory": "resources", "insufficient-cpu": "resources", "insufficient-generic-resource": "resources",
		"placement-constraint": "constraints", "platform-mismatch": "platform", "plugin-missing": "plugins",
		"host-port-taken": "host-port", "max-replicas-reached": "max-replicas", "cluster-volume-unavailable": "volumes",
		"no-available-node": "ready",
	} {
		if byCause[cause] != want {
			t.Errorf("%s: filter %q, want %q", cause, byCause[cause], want)
		}
	}
}

func TestALineIsNeverLongerThanDockerKeepsTogether(t *testing.T) {
	t.Parallel()
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("node-%04d.example.com", i)
	}
	verdicts := map[string]string{"resources": "fail"}
	tests := []struct {
		name   string
		change func(*analyzer.Diagnosis)
		keeps  func(analyzer.Diagnosis) bool
	}{
		{
			name:   "a thousand nodes in one group are named by the first five",
			change: func(d *analyzer.Diagnosis) { d.Nodes = []analyzer.NodeGroup{{Names: names, Verdicts: verdicts}} },
			keeps: func(d analyzer.Diagnosis) bool {
				return len(d.Nodes) == 1 && len(d.Nodes[0].Names) == 5 && d.Nodes[0].Why[0] == "so do 995 more nodes"
			},
		},
		{
			name: "hundreds of groups are left out",
			change: func(d *analyzer.Diagnosis) {
				for _, name := range names {
					d.Nodes = append(d.Nodes, analyzer.NodeGroup{Names: []string{name}, Verdicts: verdicts, Why: []string{}})
				}
			},
			keeps: func(d analyzer.Diagnosis) bool { return d.Nodes == nil && len(d.Evidence) == 1 },
		},
		{
			name: "long evidence is left out, the summary stays",
			change: func(d *analyzer.Diagnosis) {
				for range 200 {
					d.Evidence = append(d.Evidence, analyzer.Evidence{What: "constraint", Hint: strings.Repeat("x", 100)})
				}
			},
			keeps: func(d analyzer.Diagnosis) bool { return len(d.Evidence) == 0 && d.Summary == fragmented().Summary },
		},
		{
			name:   "a huge error is cut between characters",
			change: func(d *analyzer.Diagnosis) { d.DockerSays = strings.Repeat("é\x00", 20000) },
			keeps: func(d analyzer.Diagnosis) bool {
				return len(d.DockerSays) <= mostText+len("…") && strings.HasSuffix(d.DockerSays, "…")
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := fragmented()
			test.change(&d)
			if got := logged(t, d); !test.keeps(got) || got.ID != d.ID {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// logged reads a diagnosis back from its line, which must be short enough.
func logged(t *testing.T, d analyzer.Diagnosis) analyzer.Diagnosis {
	t.Helper()
	var out bytes.Buffer
	if err := NewLog(&out).Write(Event{Kind: Stuck, At: start, Diagnosis: d}); err != nil {
		t.Fatal(err)
	}
	if out.Len() > longestLine {
		t.Errorf("the line has %d bytes, more than %d", out.Len(), longestLine)
	}
	var read struct{ Diagnosis analyzer.Diagnosis }
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	return read.Diagnosis
}
