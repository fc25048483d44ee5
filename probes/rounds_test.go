package probes_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/probes"
)

// counter is a reader that counts how often it is read, and says so in the report.
type counter struct {
	mu     sync.Mutex
	reads  int
	fails  error
	closed bool
}

func (c *counter) Read(_ context.Context, r *probes.Report) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	r.Kernel = string(rune('0' + c.reads))
	return c.fails
}

func (c *counter) Abilities() []probes.Ability {
	return []probes.Ability{{Probe: "count", Name: "counting", Has: true}}
}

func (c *counter) Close() error {
	c.closed = true
	return nil
}

func TestRoundsReadEachProbeAtItsPaceAndAtOnceWhereItHasNews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := logrus.New()
		log.SetOutput(io.Discard)
		reader := &counter{}
		var news func()
		rounds := probes.OpenAll(t.Context(), probes.Host{Now: time.Now, Log: logrus.NewEntry(log)}, probes.Report{Version: probes.Version, Node: "n1"}, []probes.Probe{
			{Name: "none", Doc: "sees nothing", Open: func(context.Context, probes.Host) (probes.Reader, error) {
				return nil, errors.New("this kernel has none: another one would")
			}},
			{Name: "count", Every: 10 * time.Second, Open: func(_ context.Context, host probes.Host) (probes.Reader, error) {
				news = host.News
				return reader, nil
			}},
		})
		if _, ok := rounds.Last(); ok {
			t.Error("there is a report before the first round")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { rounds.Run(ctx) })
		seen := func() [3]any {
			synctest.Wait()
			last, _ := rounds.Last()
			return [3]any{last.Node, last.Kernel, last.Revision}
		}
		check := func(when string, kernel string, revision uint64) {
			t.Helper()
			if diff := cmp.Diff([3]any{"n1", kernel, revision}, seen()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		check("after the first round", "1", 1)
		time.Sleep(11 * time.Second)
		check("after ten seconds", "2", 1)
		changed := rounds.Changed()
		news()
		check("after news", "3", 2)
		select {
		case <-changed:
		default:
			t.Error("news were not told")
		}
		last, _ := rounds.Last()
		want := []probes.Ability{
			{Probe: "none", Name: "none", Sees: "sees nothing", Lacks: "this kernel has none: another one would"},
			{Probe: "count", Name: "counting", Has: true},
		}
		if diff := cmp.Diff(want, last.Abilities); diff != "" {
			t.Errorf("abilities (-want +got):\n%s", diff)
		}
		cancel()
		running.Wait()
		if !reader.closed {
			t.Error("the reader was not closed")
		}
	})
}
