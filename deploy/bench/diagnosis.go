package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/moby/swarmkit/v2/log"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

// cost is what one run of something takes: medians.
type cost struct {
	time   time.Duration
	allocs uint64
	bytes  uint64
}

// costs are those of a whole diagnosis and of a pass of the scheduler.
type costs struct{ ours, theirs cost }

func (c costs) ratio() float64 { return float64(c.ours.time) / float64(c.theirs.time) }

// compare measures a whole diagnosis against a whole pass of swarmkit's scheduler over the same swarm, in turns, rounds times.
func compare(nodes, rounds int, state *collector.State) (costs, error) {
	swarm, err := newCluster(nodes).seed()
	if err != nil {
		return costs{}, err
	}
	defer swarm.Close()
	pass := func() { err = remedy.Schedule(log.WithLogger(context.Background(), silent), swarm) }
	var found int
	diagnose := func() { found = len(analyzer.Analyze(state, time.Now(), analyzer.Patience{}).Diagnoses) }
	pass() // the first writes to every task that waits
	var ours, theirs []time.Duration
	var result costs
	for range rounds {
		result.theirs = once(pass)
		theirs = append(theirs, result.theirs.time)
		result.ours = once(diagnose)
		ours = append(ours, result.ours.time)
		if err != nil {
			return costs{}, err
		}
		if found != groups {
			return costs{}, fmt.Errorf("%d diagnoses: want %d", found, groups)
		}
	}
	result.ours.time, result.theirs.time = median(ours), median(theirs)
	return result, nil
}

func once(run func()) cost {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	run()
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	return cost{took, after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc}
}
