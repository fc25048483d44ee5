package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// barNodes is the size that the bars are for, in nodes; the others only show how cost grows.
	barNodes  = 1000
	smallest  = 100
	largest   = 3000
	limit     = 8 * time.Minute // of everything
	agentPath = "bin/swarmdiag"

	// leadArgument makes this program the leader.
	leadArgument = "lead"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	logrus.SetLevel(logrus.WarnLevel)
	if len(os.Args) == 4 && os.Args[1] == leadArgument {
		exit(leadFor(ctx, os.Args[2], os.Args[3]))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "swarmdiag-bench")
	exit(err)
	r := &report{out: os.Stdout}
	err = bench(ctx, dir, r)
	_ = os.RemoveAll(dir)
	exit(err)
	if r.short {
		os.Exit(1)
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func leadFor(ctx context.Context, nodes, socket string) error {
	count, err := strconv.Atoi(nodes)
	if err != nil {
		return fmt.Errorf("size of the swarm: %w", err)
	}
	err = lead(ctx, count, socket, os.Stdin, os.Stdout)
	if err == nil {
		os.Exit(0)
	}
	return err
}

// bench measures everything and reports it.
func bench(ctx context.Context, dir string, r *report) error {
	r.machine()
	var sizes []size
	for _, nodes := range []int{smallest, barNodes, largest} {
		l, err := startLeader(ctx, dir, nodes)
		if err != nil {
			return err
		}
		s, err := measureSize(ctx, r, l, nodes, dir)
		if err != nil {
			return err
		}
		sizes = append(sizes, s)
		if err := l.stop(); err != nil {
			return err
		}
	}
	r.title("how cost grows")
	r.growth(sizes)
	return nil
}

// size is what was measured of a swarm of some size.
type size struct {
	nodes, tasks int
	costs        costs
	lags         lags
	listed       time.Duration // from the connection until the store held the first whole state
	heap         int64         // of the store, in bytes
}

// measureSize measures a swarm, and all that has a bar where it is of that size.
func measureSize(ctx context.Context, r *report, l *leader, nodes int, dir string) (size, error) {
	s := size{nodes: nodes}
	empty, began := heap(), time.Now()
	f, err := follow(ctx, l.socket)
	if err != nil {
		return s, err
	}
	s.listed = time.Since(began)
	s.heap = heap() - empty
	state := f.store.Snapshot()
	for range state.Tasks() {
		s.tasks++
	}
	rounds, trials := 9, 31
	if nodes != barNodes {
		rounds, trials = 3, 3
	}
	// Events come first: as in an agent, nothing else is in the memory that is searched for garbage.
	if s.lags, err = measureEvents(ctx, l, f, trials); err != nil {
		return s, err
	}
	if s.costs, err = compare(nodes, rounds, state); err != nil {
		return s, err
	}
	if nodes != barNodes {
		f.stop()
		return s, nil
	}
	r.title(fmt.Sprintf("bars, at %d nodes, %d tasks, %d of them pending in %d groups", s.nodes, s.tasks, groups*waitingPerGroup, groups))
	r.diagnosis(s.costs)
	r.events(s.lags)
	if err := measureRemedies(ctx, r, f.store.Snapshot()); err != nil {
		return s, err
	}
	f.stop()
	if err := measureAgent(ctx, r, l, leaderOf(state), dir); err != nil {
		return s, err
	}
	return s, measureLeader(ctx, r, l)
}

// leaderOf is the id of the leader's node.
func leaderOf(state *collector.State) string {
	for n := range state.Nodes() {
		if n.ManagerStatus != nil {
			return n.ID
		}
	}
	return ""
}

// median of durations, which it sorts.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
