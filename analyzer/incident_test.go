package analyzer_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
)

// wantIncidents are the summaries of the cases in testdata/incidents, and what is said to help.
var wantIncidents = map[string][]string{
	"one-node-drained": {
		"node-unavailable node node-2 | node-2 is drained (availability drain) since 2026-03-02T09:01:00Z, and by every other filter would take what is stuck: 6 tasks of 3 services (api, db, web) | docker node update --availability active node-2",
	},
	"drained-for-some": {
		"node-unavailable node node-2 | node-2 is drained (availability drain) since 2026-03-02T09:01:00Z, and by every other filter would take what is stuck: 2 tasks of 2 services (api, db) | docker node update --availability active node-2",
	},
	"two-nodes-away": {
		"node-unavailable node node-2 | node-2, node-3 are down, drained or paused, and by every other filter would take what is stuck: 2 tasks of 2 services (api, web) | docker node update --availability active node-3",
	},
	"one-node-down": {
		"node-unavailable node node-2 | node-2 is down since 2026-03-02T09:01:00Z, and by every other filter would take what is stuck: 2 tasks of 2 services (api, web) | systemctl start docker  # on node-2; not proven; node-2 does not answer the managers: its engine has to run, and to reach one of them on port 2377",
	},
	"one-node-down-with-its-tasks": {
		"node-unavailable node node-2 | node-2 is down since 2026-03-02T09:01:00Z, and by every other filter would take what is stuck: 2 tasks of 2 services (api, web) | systemctl start docker  # on node-2; not proven; node-2 does not answer the managers: its engine has to run, and to reach one of them on port 2377",
	},
	"what-no-node-has": {
		"insufficient-generic-resource generic-resource gpu | no node that may run them offers the generic resource gpu: 2 tasks of 2 services (gpu1, gpu2) | ",
		"placement-constraint constraint node.labels.zone==east | no node matches the placement constraint node.labels.zone==east: 2 tasks of 2 services (east1, east2) | docker node update --label-add 'zone=east' node-1",
		"plugin-missing plugin volume driver rexray | no node that may run them has volume driver rexray: 2 tasks of 2 services (vol1, vol2) | docker plugin install rexray  # on node-1; not proven; then node-1 reports it within half a minute; a plugin is given capabilities on its node, which docker asks about",
	},
	"scheduler-stopped": {
		"scheduler-stopped cluster default | the scheduler on the leader (node-1) places nothing: 2 tasks of 2 services (api, web) | systemctl restart docker  # on node-1; not proven; check first: the cause is likely, not certain; every task on node-1 stops meanwhile; the managers have no majority until it is back",
	},
	"stack-deployed": {
		"stack-changed stack shop | stack shop was changed at 2026-03-02T09:00:00Z, and since then is stuck: 2 tasks of 2 services (shop_api, shop_web) | ",
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
			result := analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true})
			for i := range result.Diagnoses {
				found, err := remedy.Find(t.Context(), state, &result.Diagnoses[i])
				if err != nil {
					t.Fatal(err)
				}
				result.Diagnoses[i].Remedies = found.Remedies
			}
			result.ShareRemedies()
			var got []string
			for _, i := range result.Incidents {
				got = append(got, i.Cause+" "+string(i.Subject.Kind)+" "+i.Subject.Name+" | "+i.Summary+" | "+i.Remedy)
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
	install := func(at, note string) analyzer.Remedy {
		return analyzer.Remedy{Command: "docker plugin install x", At: at, Note: note}
	}
	for name, c := range map[string]struct {
		a, b []analyzer.Remedy
		want string
	}{
		"the same command helps both":           {[]analyzer.Remedy{lower, activate}, []analyzer.Remedy{activate}, activate.Command},
		"it is proven for one of them only":     {[]analyzer.Remedy{activate}, []analyzer.Remedy{unproven}, activate.Command + "  # not proven for all of them"},
		"no copy can show it":                   {[]analyzer.Remedy{install("node-1", "")}, []analyzer.Remedy{install("node-2", ""), install("node-1", "")}, "docker plugin install x  # on node-1; not proven"},
		"one of them says more of it":           {[]analyzer.Remedy{install("node-1", "wait")}, []analyzer.Remedy{install("node-1", "check first; wait")}, "docker plugin install x  # on node-1; not proven; check first; wait"},
		"each says something else of it":        {[]analyzer.Remedy{install("node-1", "add gpu=1")}, []analyzer.Remedy{install("node-1", "add gpu=2")}, ""},
		"it is on another node":                 {[]analyzer.Remedy{install("node-1", "")}, []analyzer.Remedy{install("node-2", "")}, ""},
		"what is proven goes before":            {[]analyzer.Remedy{install("node-1", ""), activate}, []analyzer.Remedy{install("node-1", ""), activate}, activate.Command},
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
