package analyzer

import (
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Quote writes a word for a shell, in single quotes where it needs them.
func Quote(word string) string { return quote(word) }

// Plugin is a plugin that a task needs. Kind is Volume, Network or Log.
type Plugin struct{ Kind, Name string }

// MissingPlugins returns what a task needs and a node does not report.
func MissingPlugins(t *api.Task, n *filters.Node) []Plugin {
	var missing []Plugin
	for _, p := range neededPlugins(t) {
		if !hasPlugin(n, p) {
			missing = append(missing, Plugin{p.kind, p.name})
		}
	}
	return missing
}
