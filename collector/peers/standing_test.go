package peers

import (
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	fresh := func(node string, change ...func(*Standing)) Standing {
		s := Standing{Node: node, Ready: true, Fresh: true, Manager: true}
		for _, c := range change {
			c(&s)
		}
		return s
	}
	leads := func(s *Standing) { s.Leader = true }
	speaks := func(s *Standing) { s.Speaker = true }
	stale := func(s *Standing) { s.Fresh = false }
	works := func(s *Standing) { s.Manager = false }
	tests := []struct {
		name    string
		self    Standing
		answers []Standing
		waited  time.Duration
		want    bool
	}{
		{name: "the agent on the leader speaks at once", self: fresh("b", leads), answers: []Standing{fresh("a")}, want: true},
		{name: "the agent on the leader without a fresh state is silent", self: fresh("b", leads, stale), waited: time.Hour},
		{name: "another one waits while the leader's answers", self: fresh("a"), answers: []Standing{fresh("b", leads)}, waited: time.Hour},
		{name: "another one waits ten seconds for the leader's", self: fresh("a"), waited: 9 * time.Second},
		{name: "after ten seconds the lowest node id speaks", self: fresh("a"), answers: []Standing{fresh("b")}, waited: 10 * time.Second, want: true},
		{name: "a higher node id does not", self: fresh("b"), answers: []Standing{fresh("a")}, waited: time.Hour},
		{name: "an agent with a stale state is passed over", self: fresh("b"), answers: []Standing{fresh("a", stale)}, waited: 10 * time.Second, want: true},
		{name: "the leader's agent with a stale state is passed over", self: fresh("b"), answers: []Standing{fresh("a", leads, stale)}, waited: 10 * time.Second, want: true},
		{name: "who speaks goes on until the leader's agent does", self: fresh("a", speaks), answers: []Standing{fresh("b", leads)}, want: true},
		{name: "who speaks ends when the leader's agent does", self: fresh("a", speaks), answers: []Standing{fresh("b", leads, speaks)}},
		{name: "who speaks ends when its own state is stale", self: fresh("a", speaks, stale)},
		{name: "who led and spoke goes on until another one does", self: fresh("b", speaks), answers: []Standing{fresh("a")}, want: true},
		{name: "of two that speak the higher node id ends", self: fresh("b", speaks), answers: []Standing{fresh("a", speaks)}},
		{name: "of two that speak the lower node id goes on", self: fresh("a", speaks), answers: []Standing{fresh("b", speaks)}, want: true},
		{name: "of two that both think they lead the higher node id ends", self: fresh("b", leads, speaks), answers: []Standing{fresh("a", leads, speaks)}},
		{name: "a manager's agent comes before a worker's", self: fresh("z"), answers: []Standing{fresh("a", works, speaks)}, waited: 10 * time.Second, want: true},
		{name: "a worker's agent is silent while a manager's answers", self: fresh("a", works), answers: []Standing{fresh("z")}, waited: time.Hour},
		{name: "a worker's agent speaks where no manager's answers", self: fresh("a", works), answers: []Standing{fresh("b", works)}, waited: 10 * time.Second, want: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(test.self, test.answers, test.waited); got != test.want {
				t.Errorf("speaks: %t, want %t", got, test.want)
			}
		})
	}
}
