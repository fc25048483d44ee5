package oracle_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/log"
	"github.com/sirupsen/logrus"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer/oracle"
)

// pairsWanted is how many pairs of a pending task and a node are held against swarmkit where ORACLE_PAIRS is not set.
const pairsWanted = 50_000

// ORACLE_SEED decides which clusters are drawn; without it, the time does. The tests of this package run one after the other:
// the schedulers of a process share their filters, and the rounds set a flag of rapid's.
func TestEveryVerdictAndEverySentenceIsThatOfSwarmkitsScheduler(t *testing.T) {
	wanted := fromEnvironment(t, "ORACLE_PAIRS", pairsWanted)
	seed := fromEnvironment(t, "ORACLE_SEED", uint64(time.Now().UnixNano())%1e9)
	h := &held{ctx: silent(t), outcomes: map[string]int{}}
	defer func() {
		t.Logf("%d clusters: %v", h.clusters, h.outcomes)
		fmt.Printf("oracle: %d pairs, %d differences, seed %d\n", h.pairs, h.differences, seed)
	}()
	for round := uint64(0); h.pairs < wanted; round++ {
		startAt(t, seed, round)
		rapid.Check(t, func(t *rapid.T) {
			if h.pairs >= wanted && h.differences == 0 {
				return
			}
			c := oracle.Clusters().Draw(t, "cluster")
			swarmkit, err := oracle.NewScheduler(c)
			if err != nil {
				t.Fatal(err)
			}
			defer swarmkit.Close()
			if h.differences == 0 {
				h.clusters++
			}
			h.verdicts(t, c, swarmkit)
			h.wholeCluster(t, c, swarmkit)
		})
	}
}

// startAt lets the next checks draw other clusters than those of any other round and seed.
func startAt(t *testing.T, seed, round uint64) {
	t.Helper()
	const odd = 0x9e3779b97f4a7c15 // spreads neighbours over all 64 bits
	if err := flag.Set("rapid.seed", strconv.FormatUint((seed+1)*odd+round<<32, 10)); err != nil {
		t.Fatal(err)
	}
}

func fromEnvironment(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	value, ok := os.LookupEnv(name)
	if !ok || value == "" {
		return otherwise
	}
	number, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		t.Fatalf("%s=%q: want a number", name, value)
	}
	return number
}

// silent returns a context whose logger swallows what swarmkit says.
func silent(t *testing.T) context.Context {
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	return log.WithLogger(t.Context(), logrus.NewEntry(logger))
}
