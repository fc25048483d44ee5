package analyzer_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestWhatWaitsForANodeHealsWhenThatIsBack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]string{
		"one-node-down":                {"web": "when node-2 returns", "api": "when node-2 returns"},
		"one-node-down-with-its-tasks": {"web": "when node-2 returns", "api": "when node-2 returns", "big": "no"},
		"one-node-drained":             {"web": "no", "api": "no", "db": "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, now := analyzertest.State(t, filepath.Join("testdata", "incidents", name+".txtar"))
			got := map[string]string{}
			for _, d := range analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true}).Diagnoses {
				got[d.Service] = d.HealsItself
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("heals itself (-want +got):\n%s", diff)
			}
		})
	}
}
