package analyzertest

import (
	"slices"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// diagnosis is what a case expects of an analyzer.Diagnosis: what its rule decides.
type diagnosis struct {
	Service    string               `json:"service"`
	Cause      string               `json:"cause"`
	Shape      string               `json:"shape,omitempty"`
	State      string               `json:"state"`
	Tasks      int                  `json:"tasks"`
	Running    int                  `json:"running"`
	Wanted     int                  `json:"wanted"`
	Impact     analyzer.Impact      `json:"impact"`
	Severity   analyzer.Severity    `json:"severity"`
	Summary    string               `json:"summary"`
	Also       []analyzer.Also      `json:"also,omitempty"`
	Evidence   []analyzer.Evidence  `json:"evidence"`
	Check      []analyzer.Check     `json:"check"`
	LastChange *analyzer.LastChange `json:"last_change,omitempty"`
	Nodes      []group              `json:"nodes,omitempty"`
	Nearest    *analyzer.Nearest    `json:"nearest,omitempty"`
	Heals      string               `json:"heals_itself,omitempty"`
	Confidence analyzer.Confidence  `json:"confidence"`
	Blind      []string             `json:"blind,omitempty"`
}

// group is an analyzer.NodeGroup with the names of the filters that do not pass.
type group struct {
	Names   []string `json:"names"`
	Fails   []string `json:"fails,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	Why     []string `json:"why,omitempty"`
}

// golden picks the diagnoses of one cause.
func golden(result analyzer.Result, cause string) []diagnosis {
	picked := []diagnosis{}
	for _, d := range result.Diagnoses {
		if d.Cause != cause {
			continue
		}
		picked = append(picked, diagnosis{
			Service: d.Service, Cause: d.Cause, Shape: d.Shape, State: d.State,
			Tasks: d.Tasks, Running: d.Running, Wanted: d.Wanted, Impact: d.Impact, Severity: d.Severity,
			Summary: d.Summary, Also: d.Also, Evidence: d.Evidence, Check: d.Check, LastChange: d.LastChange,
			Nodes: groups(d.Nodes), Nearest: d.Nearest, Heals: d.HealsItself, Confidence: d.Confidence, Blind: d.Blind,
		})
	}
	return picked
}

func groups(nodes []analyzer.NodeGroup) []group {
	var all []group
	for _, n := range nodes {
		g := group{Names: slices.Clone(n.Names), Why: n.Why}
		for _, filter := range filters.All() {
			switch n.Verdicts[filter.String()] {
			case filters.Fail.String():
				g.Fails = append(g.Fails, filter.String())
			case filters.Unknown.String():
				g.Unknown = append(g.Unknown, filter.String())
			}
		}
		all = append(all, g)
	}
	return all
}
