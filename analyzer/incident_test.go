package analyzer_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

// wantIncidents are the summaries of the cases in testdata/incidents.
var wantIncidents = map[string][]string{
	"one-node-drained": {
		"node-unavailable node node-2 | node-2 is drained (availability drain) since 2026-03-02T09:01:00Z, and by every other filter would take what is stuck: 6 tasks of 3 services (api, db, web)",
	},
	"two-nodes-away": {
		"node-unavailable node node-2 | node-2, node-3 are down, drained or paused, and by every other filter would take what is stuck: 2 tasks of 2 services (api, web)",
	},
	"what-no-node-has": {
		"insufficient-generic-resource generic-resource gpu | no node that may run them offers the generic resource gpu: 2 tasks of 2 services (gpu1, gpu2)",
		"placement-constraint constraint node.labels.zone==east | no node matches the placement constraint node.labels.zone==east: 2 tasks of 2 services (east1, east2)",
		"plugin-missing plugin volume driver rexray | no node that may run them has volume driver rexray: 2 tasks of 2 services (vol1, vol2)",
	},
	"scheduler-stopped": {
		"scheduler-stopped cluster default | the scheduler on the leader (node-1) places nothing: 2 tasks of 2 services (api, web)",
	},
	"stack-deployed": {
		"stack-changed stack shop | stack shop was changed at 2026-03-02T09:00:00Z, and since then is stuck: 2 tasks of 2 services (shop_api, shop_web)",
	},
	"nothing-in-common": nil,
}

func TestIncidents(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/incidents/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(wantIncidents) {
		t.Errorf("%d cases, %d of them with what is wanted", len(names), len(wantIncidents))
	}
	for _, name := range names {
		short := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(short, func(t *testing.T) {
			t.Parallel()
			state, now := analyzertest.State(t, name)
			var got []string
			for _, i := range analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true}).Incidents {
				got = append(got, i.Cause+" "+string(i.Subject.Kind)+" "+i.Subject.Name+" | "+i.Summary)
			}
			if diff := cmp.Diff(wantIncidents[short], got); diff != "" {
				t.Errorf("incidents (-want +got):\n%s\n%s", diff, strings.Join(got, "\n"))
			}
		})
	}
}

func TestAnIncidentHasTheRemedyThatHelpsAllOfIt(t *testing.T) {
	t.Parallel()
	activate := analyzer.Remedy{Command: "docker node update --availability active node-2", Verified: true}
	lower := analyzer.Remedy{Command: "docker service update --reserve-memory 1GiB web", Verified: true}
	unproven := analyzer.Remedy{Command: activate.Command}
	for name, c := range map[string]struct {
		a, b []analyzer.Remedy
		want string
	}{
		"the same command helps both":           {[]analyzer.Remedy{lower, activate}, []analyzer.Remedy{activate}, activate.Command},
		"it is proven for one of them only":     {[]analyzer.Remedy{activate}, []analyzer.Remedy{unproven}, ""},
		"each has another one":                  {[]analyzer.Remedy{lower}, []analyzer.Remedy{activate}, ""},
		"the remedies of one are not yet known": {[]analyzer.Remedy{activate}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := analyzer.Result{
				Incidents: []analyzer.Incident{{Diagnoses: []string{"a", "b"}}},
				Diagnoses: []analyzer.Diagnosis{{ID: "a", Remedies: c.a}, {ID: "b", Remedies: c.b}},
			}
			result.ShareRemedies()
			if got := result.Incidents[0].Remedy; got != c.want {
				t.Errorf("remedy %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnIncidentStaysInScopeWithAnyOfItsDiagnoses(t *testing.T) {
	t.Parallel()
	state, now := analyzertest.State(t, "testdata/incidents/what-no-node-has.txtar")
	result := analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true})
	for name, want := range map[string]int{"east1": 1, "alone": 0} {
		scope := analyzer.Scope{Names: []string{name}}
		if err := scope.Resolve(state); err != nil {
			t.Fatal(err)
		}
		if got := scope.Narrow(state, result).Incidents; len(got) != want {
			t.Errorf("%s has the incidents %+v, want %d", name, got, want)
		}
	}
}
