package filters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/scheduler"
)

// Answers tells whether the scheduler tells the task why no node takes it. It passes over in silence a task that should
// stop and one whose own node is gone (manager/scheduler.Scheduler.setupTasksList, taskFitNode), and where it has to
// choose the node, a task whose service is gone or has a newer spec: such a task keeps the text that it had and is not
// tried again (noSuitableNode). service is the task's, nil where it is gone.
func (c *Cluster) Answers(t *api.Task, service *api.Service) bool {
	switch {
	case t.Status.State != api.TaskStatePending || t.DesiredState > api.TaskStateCompleted:
		return false
	case t.NodeID != "":
		return c.byID[t.NodeID] != nil
	case service == nil:
		return false
	}
	stale := service.SpecVersion != nil && t.SpecVersion != nil && service.SpecVersion.Index > t.SpecVersion.Index
	return !stale
}

// Sentence writes what the scheduler says of a task that it Answers and that no node takes, to the letter
// (manager/scheduler.Pipeline.Explain, Scheduler.noSuitableNode): each node is counted under the first filter that refuses
// it, the most frequent first. Of a preassigned task it gives the bare reason. Rows are those of Judge(t). It is empty
// where a node takes the task, and for a preassigned one whose node is gone.
func (c *Cluster) Sentence(t *api.Task, rows []Row) string {
	refused := make([]refusal, count)
	for name := range refused {
		refused[name].filter = Name(name)
	}
	for _, row := range rows {
		first := slices.Index(row.Verdicts[:], Fail)
		if first < 0 {
			return ""
		}
		refused[first].nodes++
	}
	slices.SortStableFunc(refused, func(a, b refusal) int { return b.nodes - a.nodes })
	var texts []string
	for _, r := range refused {
		if r.nodes > 0 {
			texts = append(texts, r.text())
		}
	}
	explanation := strings.Join(texts, "; ")
	switch {
	case t.NodeID != "":
		if mount, missing := c.missesMount(t, rows); missing {
			return fmt.Sprintf("cannot find volume to satisfy mount with source %s", mount.Source)
		}
		return explanation
	case explanation == "":
		return "no suitable node"
	}
	return "no suitable node (" + explanation + ")"
}

// missesMount returns the mount of a preassigned task for which there is no volume although all filters took the node
// (manager/scheduler.volumeSet.chooseTaskVolumes).
func (c *Cluster) missesMount(t *api.Task, rows []Row) (mount api.Mount, found bool) {
	if len(rows) != 1 || slices.Index(rows[0].Verdicts[:], Fail) != int(Volumes) || !c.volumes.filterPasses(c.volumes.wanted(t), rows[0].Node) {
		return api.Mount{}, false
	}
	return c.volumes.missing(t, rows[0].Node)
}

// refusal is how many nodes a filter is the first to refuse.
type refusal struct {
	filter Name
	nodes  int
}

// text is in the filter's own words.
func (r refusal) text() string {
	return [count]scheduler.Filter{
		Ready: &scheduler.ReadyFilter{}, Resources: &scheduler.ResourceFilter{}, Plugins: &scheduler.PluginFilter{},
		Constraints: &scheduler.ConstraintFilter{}, Platform: &scheduler.PlatformFilter{}, HostPort: &scheduler.HostPortFilter{},
		MaxReplicas: &scheduler.MaxReplicasFilter{}, Volumes: &scheduler.VolumesFilter{},
	}[r.filter].Explain(r.nodes)
}
