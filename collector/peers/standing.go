package peers

import (
	"cmp"
	"time"
)

// Patience is how long no agent on the leader may answer before another one speaks in its place.
const Patience = 10 * time.Second

// Standing is what an agent says of itself at /readyz.
type Standing struct {
	// Node is the id of the node that the agent runs on, or the name of its machine where that is no node of the swarm.
	Node string `json:"node"`
	// Ready tells whether the agent does its work; Reason says in a sentence why not, or what it does.
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"`
	// Fresh tells whether the agent has a fresh state of the cluster: only then may it speak.
	Fresh bool `json:"fresh"`
	// Speaker tells whether it speaks for the cluster.
	Speaker bool `json:"speaker"`
	// Manager and Leader tell what the node is, by the agent's own state.
	Manager bool `json:"manager"`
	Leader  bool `json:"leader"`
}

// decide tells whether an agent speaks from now on. answers are the standings of the others that answered in the last round,
// waited is for how long no agent on the leader has been among them.
//
// Who is silent starts only when nobody before it in order answers, and who speaks ends only when somebody before it speaks:
// so there is no gap between the two, and both speak for no longer than it takes the latter to ask.
func decide(self Standing, answers []Standing, waited time.Duration) bool {
	if !self.Fresh {
		return false
	}
	for _, other := range answers {
		if other.Fresh && compare(other, self) < 0 && (other.Speaker || !self.Speaker) {
			return false
		}
	}
	return self.Speaker || self.Leader || waited >= Patience
}

// compare orders agents: who is on the leader first, then on a manager, then elsewhere; among equals the lowest node id.
func compare(a, b Standing) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Node, b.Node))
}

func rank(s Standing) int {
	switch {
	case s.Leader:
		return 0
	case s.Manager:
		return 1
	}
	return 2
}
