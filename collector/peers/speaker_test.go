package peers

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
)

// cluster is some agents and the network between them. Its clock is that of a synctest bubble.
type cluster struct {
	t  *testing.T
	wg sync.WaitGroup

	mu     sync.Mutex // protects what follows
	leader string
	agents map[string]*agent // by node id, which is the address too
}

type agent struct {
	*Speaker
	manager, fresh bool
	// refuses and hangs are how its address answers when it does not: nobody is there, or nobody answers.
	refuses, hangs bool
	asked          int
	stop           context.CancelFunc
}

func newCluster(t *testing.T, leader string) *cluster {
	c := &cluster{t: t, leader: leader, agents: map[string]*agent{}}
	t.Cleanup(func() {
		for node := range c.agents {
			c.stop(node)
		}
		c.wg.Wait()
	})
	return c
}

// start runs agents on managers, or on workers where the node id begins with "worker".
func (c *cluster) start(nodes ...string) {
	for _, node := range nodes {
		ctx, cancel := context.WithCancel(c.t.Context())
		a := c.add(node, time.Now)
		a.stop = cancel
		c.wg.Go(func() { a.Run(ctx) })
	}
}

// add makes an agent that asks nobody by itself.
func (c *cluster) add(node string, now func() time.Time) *agent {
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	a := &agent{manager: !strings.HasPrefix(node, "worker"), fresh: true, stop: func() {}}
	a.Speaker = NewSpeaker(Options{
		Self:     func() Standing { return c.standing(node) },
		Managers: func() []Agent { return c.others(node, true) },
		Workers:  func() []Agent { return c.others(node, false) },
		Client:   &http.Client{Transport: c},
		Now:      now,
		Log:      logrus.NewEntry(logger),
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.agents[node] = a
	return a
}

func (c *cluster) stop(node string) {
	a := c.agent(node)
	a.stop()
	c.set(node, func(a *agent) { a.refuses = true })
}

func (c *cluster) agent(node string) *agent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.agents[node]
}

func (c *cluster) set(node string, change func(*agent)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c.agents[node])
}

func (c *cluster) lead(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leader = node
}

func (c *cluster) standing(node string) Standing {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.agents[node]
	return Standing{Node: node, Ready: true, Fresh: a.fresh, Manager: a.manager, Leader: c.leader == node}
}

func (c *cluster) others(self string, managers bool) []Agent {
	c.mu.Lock()
	defer c.mu.Unlock()
	var others []Agent
	for node, a := range c.agents {
		if node != self && a.manager == managers {
			others = append(others, Agent{Node: node, Addr: node})
		}
	}
	slices.SortFunc(others, func(a, b Agent) int { return strings.Compare(a.Node, b.Node) })
	return others
}

// RoundTrip answers /readyz as the agent at the address does.
func (c *cluster) RoundTrip(request *http.Request) (*http.Response, error) {
	c.mu.Lock()
	a := c.agents[request.URL.Host]
	a.asked++
	refuses, hangs := a.refuses, a.hangs
	c.mu.Unlock()
	switch {
	case refuses:
		return nil, errors.New("connection refused")
	case hangs:
		<-request.Context().Done()
		return nil, request.Context().Err()
	case request.URL.Path != "/readyz":
		return nil, errors.New("asked for " + request.URL.Path)
	}
	body, err := json.Marshal(a.Standing())
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
}

// speakers are the nodes of those who speak.
func (c *cluster) speakers() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	speakers := []string{}
	for node, a := range c.agents {
		if a.Speaks() {
			speakers = append(speakers, node)
		}
	}
	slices.Sort(speakers)
	return speakers
}

// after waits and then wants these to speak.
func (c *cluster) after(wait time.Duration, want ...string) {
	c.t.Helper()
	time.Sleep(wait)
	synctest.Wait()
	if diff := cmp.Diff(append([]string{}, want...), c.speakers()); diff != "" {
		c.t.Fatalf("speakers (-want +got):\n%s", diff)
	}
}

// round is the longest that one round of asking takes: the pause before it and the wait for an answer.
const round = roundEvery + answerTime

func TestElection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		run  func(*cluster)
	}{
		{"the agent on the leader speaks from the start", func(c *cluster) {
			c.start("m1", "m2", "m3")
			c.after(0, "m2")
			c.after(time.Minute, "m2")
		}},
		{"a drained leader has no agent: after ten seconds the lowest manager speaks", func(c *cluster) {
			c.start("m1", "m3")
			c.after(9 * time.Second)
			c.after(time.Second+round, "m1")
			c.after(time.Minute, "m1")
		}},
		{"an agent that comes to the leader takes over within a round", func(c *cluster) {
			c.start("m1", "m3")
			c.after(Patience+round, "m1")
			c.start("m2")
			c.after(round, "m2")
		}},
		{"a leader that goes down is replaced by the agent on the new one", func(c *cluster) {
			c.start("m1", "m2", "m3")
			c.after(time.Second, "m2")
			c.set("m2", func(a *agent) { a.hangs, a.fresh = true, false })
			c.lead("m3")
			c.after(round, "m3")
		}},
		{"an agent that dies on the leader is replaced after ten seconds", func(c *cluster) {
			c.start("m1", "m2", "m3")
			c.after(time.Second, "m2")
			c.stop("m2")
			c.after(9 * time.Second)
			c.after(2*time.Second+round, "m1")
		}},
		{"leadership that moves takes the word with it, without a gap", func(c *cluster) {
			c.start("m1", "m2", "m3")
			c.after(time.Second, "m2")
			c.lead("m1")
			for range 100 {
				time.Sleep(100 * time.Millisecond)
				if len(c.speakers()) == 0 {
					c.t.Fatal("nobody speaks")
				}
			}
			c.after(0, "m1")
		}},
		{"a lower manager that comes later waits, and then takes over", func(c *cluster) {
			c.start("m3")
			c.after(Patience+round, "m3")
			c.start("m1")
			c.after(9*time.Second, "m3")
			c.after(time.Second+2*round, "m1")
		}},
		{"a speaker whose source breaks is silent", func(c *cluster) {
			c.start("m1", "m2")
			c.after(time.Second, "m2")
			c.set("m2", func(a *agent) { a.fresh = false })
			c.agent("m2").Nudge()
			c.after(time.Millisecond)
			c.after(Patience+2*round, "m1")
		}},
		{"a speaker that said it is stale speaks again only after it has asked", func(c *cluster) {
			c.start("m1", "m2")
			c.after(time.Second, "m2")
			c.set("m2", func(a *agent) { a.fresh = false })
			c.agent("m2").Standing()
			c.set("m2", func(a *agent) { a.fresh = true })
			c.after(0)
			c.after(round, "m2")
		}},
		{"where no manager has an agent the lowest worker that follows one speaks", func(c *cluster) {
			c.start("worker1", "worker2", "worker3")
			c.after(9 * time.Second)
			c.after(time.Second+round, "worker1")
			c.start("m1")
			c.after(9*time.Second, "worker1")
			c.after(time.Second+2*round, "m1")
		}},
		{"an agent without a state finds who speaks and never speaks itself", func(c *cluster) {
			c.start("m1", "m2", "worker1")
			c.set("worker1", func(a *agent) { a.fresh = false })
			c.after(round, "m2")
			if addr := c.agent("worker1").Addr(); addr != "m2" {
				c.t.Errorf("the speaker is at %q", addr)
			}
			if addr := c.agent("m2").Addr(); addr != "" {
				c.t.Errorf("the speaker itself is sent to %q", addr)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, "m2")
				test.run(c)
			})
		})
	}
}

func TestAmongHundredsOfWorkersFewAreAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "m2")
		var nodes []string
		for _, x := range "abcdefghij" {
			for _, y := range "abcdefghij" {
				nodes = append(nodes, "worker"+string(x)+string(y))
			}
		}
		c.start(nodes...)
		c.after(Patience+round, "workeraa")
		last := c.agent("workerjj")
		if last.asked > 0 {
			t.Errorf("the last worker was asked %d times", last.asked)
		}
		if last.Addr() != "workeraa" {
			t.Errorf("the last worker finds the speaker at %q", last.Addr())
		}
	})
}

func TestAnAgentThatStopsSpeaksNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, "m2")
		c.start("m2")
		c.after(0, "m2")
		changed := c.agent("m2").Changed()
		c.stop("m2")
		<-changed
		c.after(0)
	})
}
