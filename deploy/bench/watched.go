package main

import (
	"context"
	"slices"
	"time"

	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/engine"
	"github.com/swarmdiag/swarmdiag/collector/watch"
)

const (
	// window is how long the leader is measured each time, alone and watched in turn, windows times each: its scheduler looks at
	// what waits now and then, which is most of what it uses, so that a few windows tell little.
	window  = 5 * time.Second
	windows = 9
	// polls is how many polls are measured, and pollInterval the agent's default.
	polls        = 5
	pollInterval = 5 * time.Second
)

// load is what the leader uses while it is watched, or polled.
type load struct {
	alone, watched float64       // share of a core while events come: medians
	poll           float64       // processor time of one poll, in seconds: median
	every          time.Duration // how often the agent polls a swarm of this size
	watchedBytes   float64       // read a second
	pollBytes      float64       // read by one poll
}

// polled is the share of a core that the leader uses while events come and it is polled.
func (l load) polled() float64 { return l.alone + l.poll/l.every.Seconds() }

// measureLeader measures what the leader uses alone and watched while the same events come, and what one poll adds. Polling
// is played with the listings of the Control API; what dockerd adds, to convert them and write them as JSON, is not in it.
func measureLeader(ctx context.Context, r *report, l *leader) error {
	var result load
	if err := result.measurePolls(ctx, l); err != nil {
		return err
	}
	if _, err := l.ask("churn", "on"); err != nil {
		return err
	}
	defer l.ask("churn", "off")
	if err := sleep(ctx, window); err != nil { // until replacements come as fast as failures
		return err
	}
	var alone, watched []float64
	for range windows {
		u, err := l.during(func() error { return sleep(ctx, window) })
		if err != nil {
			return err
		}
		alone = append(alone, u.cpu.Seconds()/window.Seconds())
		if u, err = l.whileWatched(ctx); err != nil {
			return err
		}
		watched = append(watched, u.cpu.Seconds()/window.Seconds())
		result.watchedBytes += float64(u.bytes) / (windows * window).Seconds()
	}
	result.alone, result.watched = middle(alone), middle(watched)
	r.leader(result)
	return nil
}

// whileWatched is what the leader uses in a window while its state is followed.
func (l *leader) whileWatched(ctx context.Context) (usage, error) {
	f, err := follow(ctx, l.socket)
	if err != nil {
		return usage{}, err
	}
	defer f.stop()
	return l.during(func() error { return sleep(ctx, window) })
}

// measurePolls measures polls of a leader that does nothing else.
func (l *load) measurePolls(ctx context.Context, leader *leader) error {
	var used, took []float64
	for range polls {
		began := time.Now()
		u, err := leader.during(func() error {
			_, err := collector.Once(ctx, watch.New(leader.socket))
			return err
		})
		if err != nil {
			return err
		}
		took = append(took, time.Since(began).Seconds())
		used = append(used, u.cpu.Seconds())
		l.pollBytes = float64(u.bytes)
	}
	l.poll = middle(used)
	l.every = engine.Interval(pollInterval, time.Duration(middle(took)*float64(time.Second)))
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

func middle(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
