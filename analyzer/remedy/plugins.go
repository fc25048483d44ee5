package remedy

import (
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/spelling"
)

var _ = propose(filters.Plugins, installPlugin)

// installPlugin installs what a node lacks, or has it seen. What a node will report then no copy can show. A log driver whose
// name is a slip is named as the node has it.
func installPlugin(s *subject, g *group, _ filters.Reason) []proposal {
	found := s.otherLogDriver(g)
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

// otherLogDriver corrects the name of a log driver that no node has, where the group's nearest node has one by nearly that name
// and lacks nothing else. What options the service has nothing here knows (collector keeps none), and docker drops those that are
// not given again.
func (s *subject) otherLogDriver(g *group) []proposal {
	nearest := g.rows[0].Node
	missing := analyzer.MissingPlugins(g.waiting.Task(), nearest)
	if len(missing) != 1 || missing[0].Kind != logPlugin || slices.ContainsFunc(s.cluster.Nodes(), func(n *filters.Node) bool {
		return slices.Contains(logDrivers(n), missing[0].Name)
	}) {
		return nil
	}
	near := spelling.Nearest(missing[0].Name, logDrivers(nearest))
	if len(near) == 0 {
		return nil
	}
	return s.inStack(noted(s.updateService(func(spec *api.ServiceSpec) {
		if spec.Task.LogDriver != nil {
			spec.Task.LogDriver.Name = near[0]
		}
	}, flag("--log-driver", near[0])), fmt.Sprintf("if %s was meant: no node has a log driver %s; give the options of the service again with --log-opt, docker drops the others",
		near[0], missing[0].Name)), "logging.driver", near[0])
}

// logPlugin is the type of the plugins that are log drivers, as nodes report them.
const logPlugin = "Log"

// logDrivers are the names of the log drivers that a node reports, the built-in ones among them.
func logDrivers(n *filters.Node) []string {
	var names []string
	if n.Description != nil && n.Description.Engine != nil {
		for _, p := range n.Description.Engine.Plugins {
			if p.Type == logPlugin {
				names = append(names, p.Name)
			}
		}
	}
	return names
}
