package filters_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/log"
	"github.com/moby/swarmkit/v2/manager/scheduler"
	"github.com/moby/swarmkit/v2/manager/state/store"
	"github.com/sirupsen/logrus"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// tasksPerNode times rounds times a hundred checks of rapid is the number of pairs that the test holds against swarmkit.
const (
	tasksPerNode = 50
	rounds       = 4
)

// The schedulers of one process share their filters (manager/scheduler.defaultFilters): this test runs one at a time.
func TestEveryVerdictIsThatOfSwarmkitsScheduler(t *testing.T) {
	pairs, placed := 0, 0
	for range rounds {
		rapid.Check(t, func(t *rapid.T) {
			cluster := drawCluster(t)
			var refused []*api.Task
			judge := filters.NewCluster(cluster.state(t))
			for i := range tasksPerNode {
				task := cluster.drawPending(t, i)
				pairs++
				if row := judge.Judge(task)[0]; !row.Passes() {
					refused = append(refused, task)
					continue
				}
				placed++
				cluster.compare(t, judge, []*api.Task{task})
			}
			cluster.compare(t, judge, refused)
		})
	}
	t.Logf("%d pairs, %d of them placed, 0 differences", pairs, placed)
}

// compare runs swarmkit's scheduler over the node and the pending tasks, and holds its decision on each against ours.
func (c *oneNode) compare(t *rapid.T, judge *filters.Cluster, pending []*api.Task) {
	if len(pending) == 0 {
		return
	}
	for id, decided := range c.schedule(t, pending) {
		task := pending[0]
		for _, p := range pending {
			if p.ID == id {
				task = p
			}
		}
		want := explain(judge.Judge(task)[0], task)
		got := decided.Status.Err
		if task.NodeID != "" && strings.HasPrefix(got, "cannot find volume to satisfy mount with source ") {
			got = (&scheduler.VolumesFilter{}).Explain(1) // the filter let the task pass, choosing its volumes did not
		}
		if got != want || (want == "") != (decided.Status.State == api.TaskStateAssigned) {
			t.Fatalf("swarmkit says %q in state %s, we say %q\nnode %v\ntask %v\nvolumes %v", got, decided.Status.State, want, c.node, task, c.volumes)
		}
	}
}

// explain writes what the scheduler would: the first filter that refuses.
func explain(row filters.Row, task *api.Task) string {
	texts := map[filters.Name]scheduler.Filter{
		filters.Ready: &scheduler.ReadyFilter{}, filters.Resources: &scheduler.ResourceFilter{}, filters.Plugins: &scheduler.PluginFilter{},
		filters.Constraints: &scheduler.ConstraintFilter{}, filters.Platform: &scheduler.PlatformFilter{}, filters.HostPort: &scheduler.HostPortFilter{},
		filters.MaxReplicas: &scheduler.MaxReplicasFilter{}, filters.Volumes: &scheduler.VolumesFilter{},
	}
	fails := row.Verdicts.Fails()
	switch {
	case len(fails) == 0:
		return ""
	case task.NodeID != "":
		return texts[fails[0]].Explain(1)
	}
	return fmt.Sprintf("no suitable node (%s)", texts[fails[0]].Explain(1))
}

// schedule returns what the scheduler made of each pending task.
func (c *oneNode) schedule(t *rapid.T, pending []*api.Task) map[string]*api.Task {
	silent := logrus.New()
	silent.SetOutput(io.Discard)
	ctx := log.WithLogger(context.Background(), logrus.NewEntry(silent))
	s := store.NewMemoryStore(nil)
	defer s.Close()
	if err := s.Update(func(tx store.Tx) error { return c.seed(tx, pending) }); err != nil {
		t.Fatal(err)
	}
	events, cancel := s.WatchQueue().Watch()
	defer cancel()
	scheduling := scheduler.New(s)
	go func() {
		if err := scheduling.Run(ctx); err != nil {
			panic(err)
		}
	}()
	defer scheduling.Stop()
	decided, deadline := map[string]*api.Task{}, time.After(10*time.Second)
	for len(decided) < len(pending) {
		select {
		case event := <-events:
			if update, ok := event.(api.EventUpdateTask); ok {
				decided[update.Task.ID] = update.Task
			}
		case <-deadline:
			t.Fatalf("swarmkit's scheduler decided on %d of %d tasks", len(decided), len(pending))
		}
	}
	return decided
}

func (c *oneNode) seed(tx store.Tx, pending []*api.Task) error {
	if err := store.CreateNode(tx, c.node.Copy()); err != nil {
		return err
	}
	for _, v := range c.volumes {
		if err := store.CreateVolume(tx, v.Copy()); err != nil {
			return err
		}
	}
	services := map[string]bool{}
	for _, t := range append(append([]*api.Task{}, c.tasks...), pending...) {
		if !services[t.ServiceID] {
			services[t.ServiceID] = true
			named := api.ServiceSpec{Annotations: api.Annotations{Name: t.ServiceID}}
			if err := store.CreateService(tx, &api.Service{ID: t.ServiceID, Spec: named}); err != nil {
				return err
			}
		}
		if err := store.CreateTask(tx, t.Copy()); err != nil {
			return err
		}
	}
	return nil
}

func (c *oneNode) state(t *rapid.T) *collector.State {
	objects := []any{c.node}
	for _, v := range c.volumes {
		objects = append(objects, v)
	}
	for _, task := range c.tasks {
		objects = append(objects, task)
	}
	s := collector.NewStore()
	if err := s.Replace(objects); err != nil {
		t.Fatal(err)
	}
	return s.Snapshot()
}
