package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/capacity"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// capacityPause is the least time between two measurements of an agent, capacityTime how long one may take. After a
	// longer one the pause is capacityShare times as long, so that in a large cluster it costs little of a core, too.
	capacityPause = 30 * time.Second
	capacityTime  = 10 * time.Second
	capacityShare = 2000
)

// measurer measures capacity in the background, for the metrics of the agent that speaks.
type measurer struct {
	log    *logrus.Entry
	tell   func(capacity.Report)
	failed bool // of run alone: the last measurement, which was logged

	mu        sync.Mutex // protects what follows
	state     *collector.State
	diagnoses []analyzer.Diagnosis
}

// want tells what there is to measure; nil where this agent does not speak.
func (m *measurer) want(state *collector.State, diagnoses []analyzer.Diagnosis) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.diagnoses = state, diagnoses
}

// run measures until ctx ends.
func (m *measurer) run(ctx context.Context) {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		pause, began := time.Second, time.Now()
		if m.measure(ctx) {
			pause = max(capacityPause, capacityShare*time.Since(began))
		}
		timer.Reset(pause)
	}
}

// measure returns false where there is nothing to measure.
func (m *measurer) measure(ctx context.Context) bool {
	m.mu.Lock()
	state, diagnoses := m.state, m.diagnoses
	m.mu.Unlock()
	if state == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, capacityTime)
	defer cancel()
	report, err := capacity.Measure(ctx, state, diagnoses)
	switch {
	case errors.Is(err, context.Canceled):
		return true
	case err == nil:
		m.tell(report)
	case !m.failed: // the next try is after the pause
		m.log.WithError(err).Warn("capacity not measured")
	}
	m.failed = err != nil
	return true
}
