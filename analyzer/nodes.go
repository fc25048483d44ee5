package analyzer

import (
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// NodeSummary is what Swarm counts on one node when it places a task.
type NodeSummary struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Role         string `json:"role"`
	State        string `json:"state"`
	Availability string `json:"availability"`
	// Tasks are those that hold resources.
	Tasks     int              `json:"tasks"`
	Resources []ResourceCounts `json:"resources"`
}

// ResourceCounts are the amounts of one resource on a node, in Unit. Limits is the sum of its tasks' limits, which do not
// count in placement.
type ResourceCounts struct {
	What     string  `json:"what"`
	Unit     string  `json:"unit,omitempty"`
	Total    float64 `json:"total"`
	Reserved float64 `json:"reserved"`
	Free     float64 `json:"free"`
	Limits   float64 `json:"limits"`
}

// Nodes summarises every node, by name.
func Nodes(state *collector.State) []NodeSummary {
	summaries := []NodeSummary{}
	for _, n := range filters.NewCluster(state).Nodes() {
		s := NodeSummary{
			ID: n.ID, Name: n.Name, Role: strings.ToLower(n.Role.String()), State: strings.ToLower(n.Status.State.String()),
			Availability: strings.ToLower(n.Spec.Availability.String()), Tasks: len(n.Tasks),
		}
		limits := sumOfLimits(n.Tasks)
		for _, what := range slices.Concat([]string{filters.CPU, filters.Memory}, genericKinds(n)) {
			total, free := n.Total(what), n.Free(what)
			s.Resources = append(s.Resources, ResourceCounts{
				What: what, Unit: unitOf(what), Total: total, Reserved: total - free, Free: free, Limits: limits[what],
			})
		}
		summaries = append(summaries, s)
	}
	return summaries
}

func genericKinds(n *filters.Node) []string {
	var kinds []string
	for _, kind := range n.Kinds() {
		kinds = append(kinds, filters.GenericPrefix+kind)
	}
	return kinds
}

func sumOfLimits(tasks []*api.Task) map[string]float64 {
	sum := map[string]float64{}
	for _, t := range tasks {
		if r := t.Spec.Resources; r != nil && r.Limits != nil {
			sum[filters.Memory] += float64(r.Limits.MemoryBytes)
			sum[filters.CPU] += float64(r.Limits.NanoCPUs) / 1e9
		}
	}
	return sum
}
