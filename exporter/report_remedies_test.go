package exporter

import (
	"strings"
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

func TestTheReportTellsWhatARemedyDoes(t *testing.T) {
	t.Parallel()
	matrix := []analyzer.NodeGroup{{Names: []string{"node-1"}}}
	for name, c := range map[string]struct {
		diagnosis analyzer.Diagnosis
		want, not string
	}{
		"one that places all": {
			analyzer.Diagnosis{Tasks: 2, Remedies: []analyzer.Remedy{{Command: "docker x", Verified: true, Places: 2, On: []string{"node-1"}, Risk: analyzer.NoRisk}}},
			"proven on a copy: places 2 on node-1; no running task changes", "places 2 of",
		},
		"one that places a part on any of several nodes": {
			analyzer.Diagnosis{Tasks: 4, Remedies: []analyzer.Remedy{{Command: "docker x", Verified: true, Places: 1, On: []string{"node-1", "node-2"}, Risk: analyzer.Restarts, Restarts: 3}}},
			"places 1 of 4 on any of node-1, node-2; restarts 3 running", "no running task changes",
		},
		"one that no copy can show": {
			analyzer.Diagnosis{Tasks: 1, Remedies: []analyzer.Remedy{{Command: "docker plugin install x", At: "node-1", Risk: analyzer.NoRisk}}},
			"$ docker plugin install x  (on node-1)", "proven on a copy",
		},
		"none": {analyzer.Diagnosis{Cause: "plugin-missing", Nodes: matrix, Remedies: []analyzer.Remedy{}}, "none is known that would place it", "proven"},
		"what was not found": {
			analyzer.Diagnosis{Tasks: 1, Remedies: []analyzer.Remedy{{Command: "docker x"}}, RemedyNotes: []string{"no move frees a node"}},
			"  remedy       no move frees a node\n", "proven on a copy",
		},
		"not sought yet": {analyzer.Diagnosis{Cause: "plugin-missing", Nodes: matrix}, "plugin-missing", "remedy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := Report(&out, analyzer.Result{Diagnoses: []analyzer.Diagnosis{c.diagnosis}}, nil, false, false); err != nil {
				t.Fatal(err)
			}
			if text := out.String(); !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
				t.Errorf("want %q and no %q:\n%s", c.want, c.not, text)
			}
		})
	}
}
