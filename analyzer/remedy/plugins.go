package remedy

import (
	"fmt"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.Plugins, installPlugin)

// installPlugin installs what a node lacks, or has it seen. What a node will report then no copy can show.
func installPlugin(_ *subject, g *group, _ filters.Reason) []proposal {
	var found []proposal
	for _, row := range g.nearest() {
		for _, p := range analyzer.MissingPlugins(g.waiting.Task(), row.Node) {
			found = append(found, proposal{
				commands: []command{{verb: "docker plugin install", object: p.Name}}, at: row.Node.Name,
				note: fmt.Sprintf("then %s reports it within half a minute; a plugin is given capabilities on its node, which docker asks about", row.Node.Name),
			})
			if p.Kind == "Volume" {
				found = append(found, proposal{
					commands: []command{{verb: "docker volume ls"}}, at: row.Node.Name,
					note: fmt.Sprintf("if %s is installed there as a legacy plugin (a socket or a spec file): a node reports it once something has used it", p.Name),
				})
			}
		}
	}
	return found
}
