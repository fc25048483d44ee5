package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

// measureRemedies finds the remedies of one diagnosis for every reason to wait.
func measureRemedies(ctx context.Context, r *report, state *collector.State) error {
	result := analyzer.Analyze(state, time.Now(), analyzer.Patience{})
	var took, each []time.Duration
	var peak int64
	for i, reason := range reasons {
		d := diagnosisOf(result, stuckName(i))
		began := time.Now()
		found, err := remedy.Find(ctx, state, &d)
		if err != nil {
			return err
		}
		lasted := time.Since(began)
		proven := 0
		for _, one := range found.Remedies {
			if one.Verified {
				proven++
			}
		}
		above, err := peakOf(func() error { _, err := remedy.Find(ctx, state, &d); return err })
		if err != nil {
			return err
		}
		r.info("remedies for %s: %d of %d verified in %v, %d MiB", reason.cause, proven, len(found.Remedies), lasted.Round(time.Millisecond), above>>20)
		if proven > 0 {
			took, each = append(took, lasted), append(each, lasted/time.Duration(proven))
			peak = max(peak, above)
		}
	}
	if len(took) == 0 {
		return fmt.Errorf("no remedy was verified for any diagnosis")
	}
	r.remedies(median(each), median(took), took[len(took)-1], peak)
	return nil
}

// peakOf is how much more the heap holds, at its highest, while something runs. Garbage is collected so soon that little of it
// counts.
func peakOf(run func() error) (int64, error) {
	before := heap()
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var highest atomic.Int64
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for ticker := time.NewTicker(time.Millisecond); ; {
			metrics.Read(sample)
			highest.Store(max(highest.Load(), int64(sample[0].Value.Uint64())))
			select {
			case <-done:
				ticker.Stop()
				return
			case <-ticker.C:
			}
		}
	})
	err := run()
	close(done)
	watcher.Wait()
	return highest.Load() - before, err
}
