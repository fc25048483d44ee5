package remedy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// offered tells whether any node of a group offers a kind of generic resource.
func offered(g *group, kind string) bool {
	return slices.ContainsFunc(g.rows, func(row filters.Row) bool { return slices.Contains(row.Node.Kinds(), kind) })
}

// advertise has a node offer a kind of generic resource, one first on which few tasks run. That it has it no copy can show, and
// Docker's command line cannot set it: an engine reads it when it starts (daemon.Daemon.setGenericResources).
func advertise(g *group, kind string) []proposal {
	rows := slices.Clone(g.rows)
	slices.SortStableFunc(rows, func(a, b filters.Row) int { return cmp.Compare(len(a.Node.Tasks), len(b.Node.Tasks)) })
	amount := whole(kind, filters.Asked(g.waiting.Task())[filters.GenericPrefix+kind])
	var found []proposal
	for _, row := range rows[:min(len(rows), enough)] {
		p := proposal{
			commands: []command{{verb: "systemctl restart docker"}}, at: row.Node.Name,
			note: fmt.Sprintf(`first add %q to "node-generic-resources" in /etc/docker/daemon.json there, only if %s has it: an engine reads that when it starts`,
				fmt.Sprintf("%s=%d", kind, amount), row.Node.Name),
		}
		if running := len(row.Node.Tasks); running > 0 {
			p.risk, p.restarts = analyzer.Outage, running
			p.note = join(p.note, fmt.Sprintf("every task on %s stops meanwhile", row.Node.Name))
		}
		found = append(found, p)
	}
	return found
}
