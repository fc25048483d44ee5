package analyzer

import (
	"cmp"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// spreadTree is the tree that tasks are spread over (manager/scheduler.nodeSet.tree): a node without the label is in the
// branch of the empty value.
func spreadTree(cluster *filters.Cluster, s *api.Service, takes []filters.Row) *Branch {
	descriptors := spreads(s)
	if len(descriptors) == 0 {
		return nil
	}
	taken := map[string]bool{}
	for _, row := range takes {
		taken[row.Node.ID] = true
	}
	root := &Branch{}
	for _, n := range cluster.Nodes() {
		branch := root
		branch.count(n.ActiveTasks(s.ID), taken[n.ID])
		for _, descriptor := range descriptors {
			branch.By = descriptor
			branch = branch.below(constraints.ParseKey(descriptor).Value(n.Node))
			branch.count(n.ActiveTasks(s.ID), taken[n.ID])
		}
	}
	root.sort()
	return root
}

// spreads are the preferences that the scheduler looks at: other keys than labels it passes over.
func spreads(s *api.Service) []string {
	var descriptors []string
	if s.Spec.Task.Placement == nil {
		return nil
	}
	for _, preference := range s.Spec.Task.Placement.Preferences {
		if spread := preference.GetSpread(); spread != nil {
			if _, label := constraints.SplitLabel(spread.SpreadDescriptor); label != "" {
				descriptors = append(descriptors, spread.SpreadDescriptor)
			}
		}
	}
	return descriptors
}

func (b *Branch) count(tasks int, takes bool) {
	b.Tasks += tasks
	if takes {
		b.Takes++
	}
}

// below returns the branch of a value, a new one where there is none yet.
func (b *Branch) below(value string) *Branch {
	for _, next := range b.Branches {
		if next.Value == value {
			return next
		}
	}
	next := &Branch{Value: value}
	b.Branches = append(b.Branches, next)
	return next
}

func (b *Branch) sort() {
	slices.SortFunc(b.Branches, func(x, y *Branch) int { return cmp.Compare(x.Value, y.Value) })
	for _, next := range b.Branches {
		next.sort()
	}
}
