package capacity

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Refusal is why no number of new nodes of a kind places some of what waits.
type Refusal struct {
	// Why names what such a node does not have or give, which keeps that many Tasks of these Services waiting.
	Why      string   `json:"why"`
	Services []string `json:"services"`
	Tasks    int      `json:"tasks"`
}

// refusals collects them by why.
type refusals map[string]*Refusal

func (r refusals) add(why, service string, tasks int) {
	if r[why] == nil {
		r[why] = &Refusal{Why: why}
	}
	r[why].Services = append(r[why].Services, service)
	r[why].Tasks += tasks
}

// sorted are the refusals of most tasks first; nil where there are none.
func (r refusals) sorted() []Refusal {
	var all []Refusal
	for _, one := range r {
		slices.Sort(one.Services)
		one.Services = slices.Compact(one.Services)
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Refusal) int { return cmp.Or(b.Tasks-a.Tasks, strings.Compare(a.Why, b.Why)) })
	return all
}

// whyNot tells why an empty node of a cluster that has no other takes no such task.
func whyNot(cluster *filters.Cluster, t *api.Task) string {
	row, judged := cluster.JudgeOn(t, cluster.Nodes()[0].ID)
	switch fails := row.Verdicts; {
	case !judged:
		return "the one node that a global service's task is for"
	case fails[filters.Constraints] == filters.Fail && asksManager(t, row.Node.Node):
		return "a constraint on the role manager: a new node joins as a worker"
	case fails[filters.Constraints] == filters.Fail:
		return "constraints that such a node does not match"
	case fails[filters.Platform] == filters.Fail:
		return "an image for another platform than such a node's"
	case fails[filters.Plugins] == filters.Fail:
		return "a plugin that such a node lacks"
	case fails[filters.Resources] == filters.Fail:
		return "a reservation of more " + resourceNames(row.Short(t)) + " than such a node has"
	case fails[filters.Volumes] == filters.Fail:
		return "a cluster volume that cannot be used there"
	}
	return "a port or resource that global services take of such a node first"
}

// asksManager tells whether it is for its role only that a worker does not meet the constraints of a task.
func asksManager(t *api.Task, worker *api.Node) bool {
	manager := worker.Copy()
	manager.Role = api.NodeRoleManager
	parsed, err := constraint.Parse(t.Spec.Placement.Constraints)
	return err == nil && constraint.NodeMatches(parsed, manager)
}

// resourceNames names what is short: "CPU", "gpu and memory".
func resourceNames(short map[string]float64) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(short)) {
		all = append(all, analyzer.ResourceName(what))
	}
	return strings.Join(all, " and ")
}
