package probes

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"
)

// Probe is one kind of look at a node.
type Probe struct {
	// Name is a metric label and what doctor calls it: "memory", "reclaim".
	Name string
	// Doc says in one sentence what it sees.
	Doc string
	// Every is the time from one reading to the next, where nothing calls for one sooner.
	Every time.Duration
	// Open prepares it. The error, where it cannot, is one sentence on what is lost and what would help; the rest goes on.
	Open func(context.Context, Host) (Reader, error)
}

// Reader reads what its probe sees. Its methods are called by one goroutine at a time, and Read ends with its context.
type Reader interface {
	// Read writes the probe's own fields of the report, and only these, with fresh values: the ones before are shared with reports
	// that others hold. Fields that other probes wrote may be read.
	Read(context.Context, *Report) error
	// Abilities says what it can and cannot see, as known after the last Read.
	Abilities() []Ability
	// Close ends what Open began, and waits for it.
	Close() error
}

// Host is where a probe finds its node. In the agent's container the host's folders are mounted below /host; tests point them
// at folders of their own.
type Host struct {
	// Node is the node's id in the swarm.
	Node string
	// Proc, Sys, Cgroup, Run, Dev and Root are the host's /proc, /sys, /sys/fs/cgroup, /run, /dev and /. One that is not to be
	// seen is empty.
	Proc, Sys, Cgroup, Run, Dev, Root string
	// Engine returns what the node's own engine last said of itself; nil where it never answered.
	Engine func() *Engine
	// News asks for a reading of this probe now: something happened that should not wait. It never blocks.
	News func()
	// Now is the node's clock.
	Now func() time.Time
	Log *logrus.Entry
}

// Ability is one thing that an agent may be able to do on its node.
type Ability struct {
	// Probe is the probe's name, Name the thing's: "memory.events", "psi-triggers".
	Probe string `json:"probe"`
	Name  string `json:"name"`
	// Tier is the least of the documented tiers that has it: 0 to 3.
	Tier int `json:"tier"`
	// Has tells whether this agent can.
	Has bool `json:"has"`
	// Sees is what can be seen with it: a few words.
	Sees string `json:"sees"`
	// Lacks says why it cannot, one sentence, empty where it can; Fix is the line that would mend that: a flag or a mount of the
	// service, a setting of the kernel. Empty where nothing would.
	Lacks string `json:"lacks,omitempty"`
	Fix   string `json:"fix,omitempty"`
}
