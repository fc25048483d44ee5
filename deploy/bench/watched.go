package main

import (
	"context"
	"slices"
	"time"

	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/watch"
)

const (
	// window is how long the leader is measured each time, in each of the three ways in turn, windows times.
	window  = 10 * time.Second
	windows = 3
	// pollInterval is the agent's default.
	pollInterval = 5 * time.Second
)

// measureLeader measures what the leader uses for the same events alone, watched, and polled. Polling is played with the
// listings of the Control API; what dockerd adds, to convert them and write them as JSON, is not in it.
func measureLeader(ctx context.Context, r *report, l *leader) error {
	if _, err := l.ask("churn", "on"); err != nil {
		return err
	}
	defer l.ask("churn", "off")
	var alone, watched, polled []float64 // processor time per event, in seconds
	var bytesWatched, bytesPolled int64
	for range windows {
		u, err := l.during(func() error { return sleep(ctx, window) })
		if err != nil {
			return err
		}
		alone = append(alone, u.perEvent())

		f, err := follow(ctx, l.socket)
		if err != nil {
			return err
		}
		u, err = l.during(func() error { return sleep(ctx, window) })
		f.stop()
		if err != nil {
			return err
		}
		watched, bytesWatched = append(watched, u.perEvent()), bytesWatched+u.bytes

		u, err = l.during(func() error { return poll(ctx, l.socket) })
		if err != nil {
			return err
		}
		polled, bytesPolled = append(polled, u.perEvent()), bytesPolled+u.bytes
	}
	seconds := int64(windows * window / time.Second)
	r.leader(middle(alone), middle(watched), middle(polled), bytesWatched/seconds, bytesPolled/seconds)
	return nil
}

// poll lists everything every pollInterval, for a window.
func poll(ctx context.Context, socket string) error {
	for range int(window / pollInterval) {
		began := time.Now()
		if _, err := collector.Once(ctx, watch.New(socket)); err != nil {
			return err
		}
		if err := sleep(ctx, pollInterval-time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// during is what the leader uses while something runs.
func (l *leader) during(run func() error) (usage, error) {
	before, err := l.usage()
	if err != nil {
		return usage{}, err
	}
	if err := run(); err != nil {
		return usage{}, err
	}
	after, err := l.usage()
	return after.since(before), err
}

func (u usage) perEvent() float64 { return u.cpu.Seconds() / float64(max(u.events, 1)) }

func middle(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
