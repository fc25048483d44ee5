package capacity

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// bestNodes is how many nodes a label or plugin is tried on: those where most waits for it.
const bestNodes = 2

// onlyThen follows what no copy can show of a command: it shows what the scheduler does once the node is as the change says.
const onlyThen = ": only what it would take then"

// candidate is a change that comes to one node being another one, or a new one.
type candidate struct {
	change Change
	node   *api.Node
	isNew  bool
	// ends are the tasks that end by it.
	ends []any
	// promises is how many tasks of how many services the node takes at least one of.
	services, tasks int
}

// candidates are the changes that leave a node no reason to refuse something that waits.
func (s *stuck) candidates() []*candidate {
	all := s.activations()
	all = append(all, s.labels()...)
	all = append(all, s.plugins()...)
	for _, k := range kindsOf(s.cluster, s.state) {
		all = append(all, &candidate{change: Change{What: "one more worker like " + k.like.Name}, node: k.more(1)[0], isNew: true})
	}
	return all
}

// activations take nodes back that are paused, drained or do not answer.
func (s *stuck) activations() []*candidate {
	var all []*candidate
	for _, n := range s.cluster.Nodes() {
		isReady, isActive := n.Status.State == api.NodeStatus_READY, n.Spec.Availability == api.NodeAvailabilityActive
		change := Change{What: "activate " + n.Name, Command: "docker node update --availability active " + analyzer.Quote(n.Ref())}
		switch {
		case isReady == isActive: // as it should be, or two things to do
			continue
		case isActive:
			change = Change{What: "bring back " + n.Name, Command: "systemctl start docker", At: n.Name, Note: "not proven that this brings it back" + onlyThen}
		}
		back := n.Copy()
		back.Status.State, back.Spec.Availability = api.NodeStatus_READY, api.NodeAvailabilityActive
		c := &candidate{change: change, node: back}
		for _, t := range n.Tasks {
			if !isReady && filters.StopsOnReturn(t) {
				c.ends = append(c.ends, t)
			}
		}
		all = append(all, c)
	}
	return all
}

// wish is what a node lacks for tasks that wait, and for how many of them.
type wish struct {
	what  string
	tasks map[*filters.Node]int
}

// wishes collects what each node lacks where a single filter refuses; lacks returns what that is, empty where one change
// cannot give it.
func (s *stuck) wishes(filter filters.Name, lacks func(*analyzer.Waiting, *filters.Node) string) []*wish {
	byWhat := map[string]*wish{}
	for _, w := range s.waiting {
		for _, row := range w.Rows {
			if row.Verdicts[filter] != filters.Fail || row.Verdicts.Count(filters.Fail) > 1 {
				continue
			}
			what := lacks(w, row.Node)
			if what == "" {
				continue
			}
			if byWhat[what] == nil {
				byWhat[what] = &wish{what: what, tasks: map[*filters.Node]int{}}
			}
			byWhat[what].tasks[row.Node] += len(w.Tasks)
		}
	}
	return slices.SortedFunc(maps.Values(byWhat), func(a, b *wish) int { return strings.Compare(a.what, b.what) })
}

// best are the nodes where most waits for it; of equal ones those with the fewest tasks.
func (w *wish) best() []*filters.Node {
	nodes := slices.SortedFunc(maps.Keys(w.tasks), func(a, b *filters.Node) int {
		return cmp.Or(w.tasks[b]-w.tasks[a], a.Active()-b.Active(), strings.Compare(a.Name, b.Name))
	})
	return nodes[:min(len(nodes), bestNodes)]
}

// labels give a node the one label that services ask for.
func (s *stuck) labels() []*candidate {
	var all []*candidate
	for _, wish := range s.wishes(filters.Constraints, missingLabel) {
		for _, n := range wish.best() {
			key, value, _ := strings.Cut(wish.what, "=")
			changed := n.Copy()
			if changed.Spec.Annotations.Labels == nil {
				changed.Spec.Annotations.Labels = map[string]string{}
			}
			changed.Spec.Annotations.Labels[key] = value
			all = append(all, &candidate{node: changed, change: Change{
				What:    "label " + wish.what + " on " + n.Name,
				Command: "docker node update --label-add " + analyzer.Quote(wish.what) + " " + analyzer.Quote(n.Ref()),
				Note:    "only if it is true of " + n.Name,
			}})
		}
	}
	return all
}

// missingLabel is the label, as name=value, that makes the node meet all constraints.
func missingLabel(w *analyzer.Waiting, n *filters.Node) string {
	expressions, err := constraints.Parse(w.Task().Spec.Placement.Constraints)
	if err != nil {
		return ""
	}
	label := ""
	for _, e := range expressions {
		if e.Matches(n.Node) {
			continue
		}
		prefix, name := constraints.SplitLabel(e.Key.Text)
		if prefix != constraint.NodeLabelPrefix || !e.Equal || e.IsPattern() || label != "" {
			return ""
		}
		label = name + "=" + e.Value
	}
	return label
}

// plugins give a node the one plugin that services ask for.
func (s *stuck) plugins() []*candidate {
	var all []*candidate
	for _, wish := range s.wishes(filters.Plugins, missingPlugin) {
		for _, n := range wish.best() {
			kind, name, _ := strings.Cut(wish.what, " ")
			changed := n.Copy()
			changed.Description.Engine.Plugins = append(changed.Description.Engine.Plugins, api.PluginDescription{Type: kind, Name: name})
			all = append(all, &candidate{node: changed, change: Change{
				What:    strings.ToLower(kind) + " plugin " + name + " on " + n.Name,
				Command: "docker plugin install " + analyzer.Quote(name), At: n.Name, Note: "not proven that the node has it then" + onlyThen,
			}})
		}
	}
	return all
}

func missingPlugin(w *analyzer.Waiting, n *filters.Node) string {
	missing := analyzer.MissingPlugins(w.Task(), n)
	if len(missing) != 1 || n.Description == nil || n.Description.Engine == nil {
		return ""
	}
	return missing[0].Kind + " " + missing[0].Name
}
