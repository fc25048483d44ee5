package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "plugin-missing",
	Component: Scheduler,
	Title:     "no node that is wanted has the volume, network or log plugin",
	Doc: `The task asks for a plugin that no node reports among those that its constraints and platform leave. A node reports a legacy
(socket or spec file) volume plugin only after something on it has used the plugin once, and a change reaches the managers
within half a minute, since a node looks at itself every twenty seconds.

Install or enable the plugin on the nodes named. If it is a legacy volume plugin that is installed already, run docker volume ls
there once. Otherwise correct the driver's name.`,
	Rejects: rejectedBy(filters.Plugins),
	Reads:   Plugins,
	Explain: explainPlugins,
	Why:     whyPlugins,
})

// plugin is a plugin that a task needs; kind as nodes report it: Volume, Network or Log.
type plugin struct{ kind, name string }

// String names it for a person: "volume driver rexray".
func (p plugin) String() string { return strings.ToLower(p.kind) + " driver " + p.name }

func explainPlugins(w *Waiting, _ filters.Reason) Finding {
	finding := Finding{}
	var lacking []string
	for _, needed := range neededPlugins(w.Task()) {
		without := nodesWithout(w.Wanted, needed)
		if len(without) == 0 {
			continue
		}
		evidence := Evidence{What: "plugin", Wanted: needed.String(), Found: foundIn(map[string][]string{"missing": without})}
		if with := nodesWith(w.Rows, needed); len(with) > 0 {
			evidence.Hint = fmt.Sprintf("installed on %s", list(with))
		} else if near := nearestPlugin(w.Rows, needed); near != "" {
			evidence.Hint = fmt.Sprintf("nodes have %s", near)
		} else if needed.kind == "Volume" {
			evidence.Hint = "a legacy volume plugin shows up only after something on the node has used it: docker volume ls"
		}
		finding.Evidence = append(finding.Evidence, evidence)
		if len(without) == len(w.Wanted) && w.Task().NodeID == "" {
			finding.behind = append(finding.behind, thing{
				"plugin-missing", Subject{Kind: PluginSubject, Name: needed.String()},
				fmt.Sprintf("no node that may run them has %s", needed),
			})
		}
		lacking = append(lacking, fmt.Sprintf("%s is missing on %s", needed, list(without)))
	}
	finding.Summary = "needs a plugin that no node it may run on has: " + strings.Join(lacking, "; ")
	finding.Check = pluginChecks(w)
	return finding
}

// neededPlugins are those that PluginFilter.Check of manager/scheduler looks for.
func neededPlugins(t *api.Task) []plugin {
	var needed []plugin
	add := func(kind, name string, builtin ...string) {
		if name != "" && !slices.Contains(builtin, name) && !slices.Contains(needed, plugin{kind, name}) {
			needed = append(needed, plugin{kind, name})
		}
	}
	if c := t.Spec.GetContainer(); c != nil {
		for _, m := range c.Mounts {
			if m.Type == api.MountTypeVolume && m.VolumeOptions != nil && m.VolumeOptions.DriverConfig != nil {
				add("Volume", m.VolumeOptions.DriverConfig.Name, "local")
			}
		}
	}
	for _, n := range t.Networks {
		if n.Network != nil && n.Network.DriverState != nil {
			add("Network", n.Network.DriverState.Name)
		}
	}
	if t.Spec.LogDriver != nil {
		add("Log", t.Spec.LogDriver.Name, "none")
	}
	return needed
}

// pluginsOf returns the names of a node's plugins of one kind; ok is false where the node does not tell: no engine, or
// no log plugin at all (PluginFilter.Check passes both).
func pluginsOf(n *filters.Node, kind string) (names []string, ok bool) {
	if n.Description == nil || n.Description.Engine == nil {
		return nil, false
	}
	for _, p := range n.Description.Engine.Plugins {
		if p.Type == kind {
			names = append(names, p.Name)
		}
	}
	return names, kind != "Log" || len(names) > 0
}

func hasPlugin(n *filters.Node, p plugin) bool {
	names, ok := pluginsOf(n, p.kind)
	return !ok || slices.Contains(names, p.name) || slices.Contains(names, p.name+":latest")
}

func nodesWithout(rows []filters.Row, p plugin) []string {
	return namesOf(rows, func(n *filters.Node) bool { return !hasPlugin(n, p) })
}

func nodesWith(rows []filters.Row, p plugin) []string {
	return namesOf(rows, func(n *filters.Node) bool { return hasPlugin(n, p) })
}

func namesOf(rows []filters.Row, which func(*filters.Node) bool) []string {
	var names []string
	for _, row := range rows {
		if which(row.Node) {
			names = append(names, row.Node.Name)
		}
	}
	return names
}

// nearestPlugin finds a plugin of the same kind whose name differs in its case or its tag only.
func nearestPlugin(rows []filters.Row, p plugin) string {
	base := func(name string) string { name, _, _ = strings.Cut(strings.ToLower(name), ":"); return name }
	for _, row := range rows {
		names, _ := pluginsOf(row.Node, p.kind)
		for _, name := range names {
			if base(name) == base(p.name) {
				return name
			}
		}
	}
	return ""
}

func pluginChecks(w *Waiting) []Check {
	node := w.Wanted[0].Node
	var checks []Check
	for _, needed := range neededPlugins(w.Task()) {
		names, ok := pluginsOf(node, needed.kind)
		if !ok || hasPlugin(node, needed) {
			continue
		}
		checks = append(checks, Check{
			Command: fmt.Sprintf(`docker node inspect -f '{{range .Description.Engine.Plugins}}{{if eq .Type "%s"}}{{.Name}} {{end}}{{end}}' %s`,
				needed.kind, quote(node.Ref())),
			Shows: strings.Join(names, " "),
		})
	}
	return checks
}

func whyPlugins(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	var why []string
	for _, needed := range neededPlugins(w.Task()) {
		if without := nodesWithout(rows, needed); len(without) > 0 {
			why = append(why, fmt.Sprintf("%s: no %s", list(without), needed))
		}
	}
	return why
}
