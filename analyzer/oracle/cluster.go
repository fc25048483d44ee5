package oracle

import (
	"fmt"
	"strings"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/collector"
)

// Epoch is the time that drawn clusters are from: everything in them is older by less than a day.
var Epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// gone is the id of a node and of a service that tasks name and that no cluster has.
const gone = "gone"

// Cluster is what the managers of a swarm know.
type Cluster struct {
	Nodes    []*api.Node
	Services []*api.Service
	Tasks    []*api.Task
	Networks []*api.Network
	Volumes  []*api.Volume
}

// Clusters draws swarms of up to ten nodes and twenty services. What they hold is such that swarmkit's verdicts do not depend on the order in
// which it reads its maps: on no node do tasks that share a kind of generic resource claim more of it than there is
// (NodeInfo.addTask gives the first one all that it asks for), nor all of one that another there asks none of, and no task mounts a cluster volume beside a group that
// has several (volumeSet.isVolumeAvailableOnNode takes any member). The leader's engine, where there is one, is older than
// Docker 29.1, which judges the mounts of a task as the scheduler of this process does.
func Clusters() *rapid.Generator[*Cluster] { return rapid.Custom(drawCluster) }

func drawCluster(t *rapid.T) *Cluster {
	c := &Cluster{Networks: drawNetworks(t)}
	for i := range rapid.IntRange(0, 4).Draw(t, "volumes") {
		c.Volumes = append(c.Volumes, drawVolume(t, i))
	}
	for i := range rapid.IntRange(0, 10).Draw(t, "nodes") {
		c.Nodes = append(c.Nodes, c.drawNode(t, i))
	}
	claims := newClaims(c.Nodes)
	for i := range rapid.IntRange(1, 20).Draw(t, "services") {
		c.drawService(t, i, claims)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "attachments") {
		c.Tasks = append(c.Tasks, c.drawAttachment(t, i))
	}
	return c
}

// Objects returns everything that the cluster consists of, as collector.Store takes it.
func (c *Cluster) Objects() []any {
	var objects []any
	for _, n := range c.Nodes {
		objects = append(objects, n)
	}
	for _, s := range c.Services {
		objects = append(objects, s)
	}
	for _, t := range c.Tasks {
		objects = append(objects, t)
	}
	for _, n := range c.Networks {
		objects = append(objects, n)
	}
	for _, v := range c.Volumes {
		objects = append(objects, v)
	}
	return objects
}

// GoString writes an object a line, for the clusters that rapid shows.
func (c *Cluster) GoString() string {
	var lines strings.Builder
	for _, object := range c.Objects() {
		fmt.Fprintf(&lines, "\n%T %v", object, object)
	}
	return lines.String()
}

// State returns the cluster as a source would have filled it: with the fields that some rule reads.
func (c *Cluster) State() (*collector.State, error) {
	s := collector.NewStore()
	if err := s.Replace(c.Objects()); err != nil {
		return nil, fmt.Errorf("fill the state: %w", err)
	}
	return s.Snapshot(), nil
}

// Pending returns the tasks that are pending.
func (c *Cluster) Pending() []*api.Task {
	var pending []*api.Task
	for _, t := range c.Tasks {
		if t.Status.State == api.TaskStatePending {
			pending = append(pending, t)
		}
	}
	return pending
}

// With returns the cluster with these in place of its tasks of the same id.
func (c *Cluster) With(tasks map[string]*api.Task) *Cluster {
	other := *c
	other.Tasks = nil
	for _, t := range c.Tasks {
		if now := tasks[t.ID]; now != nil {
			t = now
		}
		other.Tasks = append(other.Tasks, t)
	}
	return &other
}

func pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

// oneIn is true about once in n; false is the simpler case.
func oneIn(t *rapid.T, label string, n int) bool {
	return rapid.IntRange(1, n).Draw(t, label) == n
}

// minutesAgo is a time before Epoch.
func minutesAgo(minutes int) *gogotypes.Timestamp {
	return &gogotypes.Timestamp{Seconds: Epoch.Unix() - int64(minutes)*60}
}
