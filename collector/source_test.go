package collector

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
)

// scripted is a source that does one thing at each connection, and then waits for the end.
type scripted struct {
	steps []func(store *Store, live func()) error
	at    []time.Time // of each connection
}

func (s *scripted) Follow(ctx context.Context, store *Store, live func()) error {
	s.at = append(s.at, time.Now())
	if n := len(s.at) - 1; n < len(s.steps) {
		return s.steps[n](store, live)
	}
	<-ctx.Done()
	return ctx.Err()
}

func fails(text string) func(*Store, func()) error {
	return func(*Store, func()) error { return errors.New(text) }
}

// answers gives a state some times, and breaks.
func answers(times int, text string) func(*Store, func()) error {
	return func(_ *Store, live func()) error {
		for range times {
			live()
		}
		return errors.New(text)
	}
}

func TestASourceThatBreaksIsConnectedAgainAndSaysSoOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &scripted{steps: []func(*Store, func()) error{
			fails("refused"), fails("refused"), fails("refused"), fails("no leader"), answers(2, "refused"), fails("refused"),
		}}
		logger, log := logtest.NewNullLogger()
		var told []string
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Keep(ctx, source, NewStore(), logrus.NewEntry(logger), func(yes bool, err error) { told = append(told, fmt.Sprint(yes, " ", err)) })
		}()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		cancel()
		<-ended
		var said []string
		for _, entry := range log.AllEntries() {
			said = append(said, fmt.Sprint(entry.Message, " ", entry.Data["error"]))
		}
		if diff := cmp.Diff([]string{
			"source does not answer, trying again refused",
			"source does not answer, trying again no leader",
			"source answers again <nil>",
			"source does not answer, trying again refused",
		}, said); diff != "" {
			t.Errorf("log:\n%s", diff)
		}
		if diff := cmp.Diff([]string{
			"false refused", "false refused", "false refused", "false no leader", "true <nil>", "true <nil>", "false refused", "false refused",
		}, told); diff != "" {
			t.Errorf("told:\n%s", diff)
		}
		if len(source.at) != 7 {
			t.Fatalf("%d connections", len(source.at))
		}
		for i := 1; i < len(source.at); i++ {
			if pause := source.at[i].Sub(source.at[i-1]); pause <= 0 || pause > 2*lastRetry {
				t.Errorf("pause %d: %v", i, pause)
			}
		}
		if after := source.at[5].Sub(source.at[4]); after > 2*firstRetry {
			t.Errorf("%v after a state that was good", after)
		}
	})
}

func TestPausesGrowToALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &scripted{}
		for range 100 {
			source.steps = append(source.steps, fails("refused"))
		}
		logger, _ := logtest.NewNullLogger()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		Keep(ctx, source, NewStore(), logrus.NewEntry(logger), func(bool, error) {})
		// Backoff picks between half and one and a half of each pause.
		if n := len(source.at); n < 30 || n > 100 {
			t.Fatalf("%d connections in ten minutes", n)
		}
		if first := source.at[1].Sub(source.at[0]); first > 2*firstRetry {
			t.Errorf("first pause %v", first)
		}
		if last := source.at[len(source.at)-1].Sub(source.at[len(source.at)-2]); last < lastRetry/2 {
			t.Errorf("last pause %v", last)
		}
	})
}

func TestOnceReadsOneStateAndEnds(t *testing.T) {
	t.Parallel()
	source := &scripted{steps: []func(*Store, func()) error{func(store *Store, live func()) error {
		if err := store.Put(&api.Node{ID: "n1"}); err != nil {
			return err
		}
		live()
		return context.Canceled
	}}}
	state, err := Once(t.Context(), source)
	if err != nil || state.Node("n1") == nil {
		t.Errorf("state %v, %v", state, err)
	}
	if _, err := Once(t.Context(), &scripted{steps: []func(*Store, func()) error{fails("refused")}}); err == nil || err.Error() != "refused" {
		t.Errorf("a source that fails: %v", err)
	}
}
