package exporter

import (
	"fmt"
	"strings"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector/redact"
)

// lines writes it for a person: the sentence, and below it where a service runs and why there, a line each.
func (well Well) lines() []string {
	lines := []string{well.Says}
	w := well.Where
	if w == nil {
		return lines
	}
	add := func(name, text string) { lines = append(lines, fmt.Sprintf("  %-12s %s", name, text)) }
	if len(w.On) > 0 {
		add("runs on", nodeCounts(w.On))
	}
	add("may run on", mayRunOn(*w))
	if w.Spread != nil {
		heading := "spread"
		for _, line := range branches(w.Spread, "") {
			add(heading, line)
			heading = ""
		}
	}
	for _, n := range w.Failing {
		add("avoided", fmt.Sprintf("%s: %d tasks of this version failed there within 5 minutes, and with 5 or more Swarm takes other nodes first", n.Node, n.Tasks))
	}
	return lines
}

// nodeCounts writes nodes with their tasks: "node-1 2, node-2 1".
func nodeCounts(counts []analyzer.NodeCount) string {
	texts := make([]string, len(counts))
	for i, c := range counts {
		texts[i] = fmt.Sprintf("%s %d", c.Node, c.Tasks)
	}
	return firstNames(texts)
}

// firstNames writes a list for a person, the first names of a long one.
func firstNames(names []string) string {
	text := strings.Join(names[:min(len(names), mostNames)], ", ")
	if more := len(names) - mostNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// leavers are what people call the filters that leave nodes.
var leavers = map[filters.Name]string{
	filters.Constraints: "placement constraints", filters.Platform: "the image's platform", filters.Plugins: "plugins",
	filters.Ready: "being ready and active",
}

func mayRunOn(w analyzer.Whereabouts) string {
	text := fmt.Sprintf("%d of %d nodes", len(w.Takes), w.Nodes)
	if len(w.Takes) > 0 && len(w.Takes) < w.Nodes {
		text += " (" + firstNames(w.Takes) + ")"
	}
	if len(w.Left) == 0 {
		return text + ": nothing in its spec keeps it from any"
	}
	var steps []string
	for _, left := range w.Left {
		step := leavers[left.Filter]
		if len(left.By) > 0 {
			step += " (" + firstNames(left.By) + ")"
		}
		steps = append(steps, fmt.Sprintf("%s: %d left", step, left.Nodes))
	}
	return text + "; " + strings.Join(steps, ", ")
}

// branches writes a level of the spread tree as a line, and the levels below it after.
func branches(b *analyzer.Branch, above string) []string {
	if b.By == "" {
		return nil
	}
	var parts, below []string
	for _, next := range b.Branches {
		value := next.Value
		if value == "" {
			value = "without it"
		}
		tasks, nodes := plural(next.Tasks, "task"), plural(next.Takes, "node")
		parts = append(parts, fmt.Sprintf("%s %s on %s", value, tasks, nodes))
		below = append(below, branches(next, above+value+", ")...)
	}
	return append([]string{redact.Text(above + "by " + b.By + ": " + firstNames(parts))}, below...)
}

// some writes the first names of a list: "node-1, node-2, node-3, node-4, node-5 and 7 more".
func some(names []string) string {
	text := strings.Join(names[:min(len(names), mostNames)], ", ")
	if more := len(names) - mostNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func redactWhereabouts(w analyzer.Whereabouts) analyzer.Whereabouts {
	w.Left = redactEach(w.Left, func(l analyzer.Left) analyzer.Left {
		l.By = redactTexts(l.By)
		return l
	})
	w.Spread = redactBranch(w.Spread)
	return w
}

func redactBranch(b *analyzer.Branch) *analyzer.Branch {
	if b == nil {
		return nil
	}
	safe := *b
	safe.Value, safe.By = redact.Text(b.Value), redact.Text(b.By)
	safe.Branches = redactEach(b.Branches, redactBranch)
	return &safe
}
