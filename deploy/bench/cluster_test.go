package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// stateOf is the swarm as a source that sees everything reads it.
func stateOf(t *testing.T, c *cluster) *collector.State {
	t.Helper()
	store := collector.NewStore()
	listing := store.List()
	listing.Add(c.network)
	for _, n := range c.nodes {
		listing.Add(n)
	}
	for _, s := range c.services {
		listing.Add(s)
	}
	for _, task := range c.tasks {
		listing.Add(task)
	}
	if err := listing.Replace(); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}

func TestEveryGroupWaitsForWhatItIsMadeToWaitFor(t *testing.T) {
	t.Parallel()
	c := newCluster(60)
	if got := len(c.tasks); got < 60*(tasksPerNode-1)+groups*waitingPerGroup {
		t.Errorf("%d tasks", got)
	}
	got := map[string]string{}
	for _, d := range analyzer.Analyze(stateOf(t, c), time.Now(), analyzer.Patience{}).Diagnoses {
		got[d.Service] = d.Cause
		if d.Tasks != waitingPerGroup {
			t.Errorf("%s: %d tasks", d.Service, d.Tasks)
		}
	}
	want := map[string]string{}
	for i := range groups {
		want[stuckName(i)] = causeOf(i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
