package exporter

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// holders are written service@node.
func holders(names ...string) []analyzer.Holder {
	var all []analyzer.Holder
	for _, name := range names {
		service, node, _ := strings.Cut(name, "@")
		all = append(all, analyzer.Holder{Service: service, Node: node, Task: "t", Amount: 1})
	}
	return all
}

func TestTheReportAddsWhatTheSummaryDoesNotSay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		summary  string
		evidence analyzer.Evidence
		wide     bool
		want     []string
	}{
		"a hint that the summary has": {
			summary:  "web: no node matches its constraint region==eu: with node.labels.region==eu 1 node matches: node-2",
			evidence: analyzer.Evidence{What: "constraint", Hint: "no node matches region==eu; with node.labels.region==eu 1 node matches: node-2"},
		},
		"the part of a hint that is new": {
			summary:  "web: no node matches its constraint region==eu",
			evidence: analyzer.Evidence{What: "constraint", Hint: "no node matches region==eu; engine.labels.region==eu may be meant"},
			want:     []string{"  hint         engine.labels.region==eu may be meant"},
		},
		"some of many holders": {
			summary:  "web: its port is taken",
			evidence: analyzer.Evidence{What: "host-port", Wanted: "80/tcp", Holders: holders("a@n1", "b@n2", "a@n1", "c@n3", "d@n4", "e@n5")},
			want:     []string{"  held by      a on n1, b on n2, c on n3 and 2 more"},
		},
		"holders that the summary has": {
			summary:  "web: its port is taken by a on n1, n2",
			evidence: analyzer.Evidence{What: "host-port", Wanted: "80/tcp", Holders: holders("a@n1", "a@n2")},
		},
		"a holder that stops, and amounts": {
			summary: "web: short of memory",
			evidence: analyzer.Evidence{What: "memory", Unit: "bytes", Node: "n1", Holders: []analyzer.Holder{
				{Service: "a", Amount: 4 << 30}, {Service: "b", Amount: 1 << 30, Stopping: true},
			}},
			want: []string{"  held by      a on n1 (4GiB), b on n1 (1GiB), which is stopping"},
		},
		"a value that is its node's name": {
			summary:  "web: not that node",
			evidence: analyzer.Evidence{What: "constraint", Wanted: "node.hostname==n9", Found: []analyzer.Found{{Value: "n1", Nodes: []string{"n1"}, Count: 1}, {Value: "ssd", Nodes: []string{"n1", "n2"}, Count: 7}}},
			wide:     true,
			want:     []string{"  evidence     constraint, wanted node.hostname==n9", "               n1", "               ssd on n1, n2 and 5 more"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			d := diagnosed(memory, func(d *analyzer.Diagnosis) { d.Summary, d.Evidence = c.summary, []analyzer.Evidence{c.evidence} })
			if err := Report(&out, result(d), nil, c.wide, false); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if diff := cmp.Diff(c.want, append([]string(nil), lines[3:]...)); diff != "" {
				t.Errorf("beside summary, cause and tasks (-want +got):\n%s", diff)
			}
		})
	}
}
