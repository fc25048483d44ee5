package analyzer

import (
	"slices"
	"time"
)

// Component is the part of Swarm that holds a task, or the layer that a fault belongs to.
type Component string

// The components.
const (
	Allocator    Component = "allocator"
	Scheduler    Component = "scheduler"
	Orchestrator Component = "orchestrator"
	Agent        Component = "agent"
)

// Severity says how much a diagnosis matters.
type Severity string

// The severities: what the user asked for does not happen; it is at risk; it is so by intent, or passing.
const (
	Critical Severity = "critical"
	Warning  Severity = "warning"
	Info     Severity = "info"
)

// Impact says what a diagnosis costs the service.
type Impact string

// The impacts: no replica runs; fewer run than wanted; an update cannot go on; nothing.
const (
	Down          Impact = "down"
	Degraded      Impact = "degraded"
	UpdateBlocked Impact = "update-blocked"
	NoImpact      Impact = "none"
)

// Confidence says what a diagnosis rests on.
type Confidence string

// The confidences: computed from the state alone; inferred because a source hides a field; one of several explanations.
const (
	Certain  Confidence = "certain"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// Result is everything that one look at a State found.
type Result struct {
	Cluster Cluster `json:"cluster"`
	// Incidents are what is behind two or more of the diagnoses, the one that stops most services first.
	Incidents []Incident  `json:"incidents"`
	Diagnoses []Diagnosis `json:"diagnoses"`
	// Ignored are the diagnoses that a label silences.
	Ignored []Diagnosis `json:"ignored,omitempty"`
	// Blind says what could not be seen, a sentence each.
	Blind []string `json:"blind"`

	// Unjudged is what waits for a node where the source lacks the nodes: without cause and summary.
	Unjudged []Diagnosis `json:"-"`
	// Unsettled are the ids of services with a slot that is not as desired, and not yet for long enough to count.
	Unsettled map[string]bool `json:"-"`
	// Next is when something becomes overdue that is not yet; zero when only a change of the state can bring news.
	Next time.Time `json:"-"`
}

// Cluster tells which swarm was looked at, and through what.
type Cluster struct {
	ID             string    `json:"id"`
	Name           string    `json:"name"`
	Leader         string    `json:"leader"`
	Managers       int       `json:"managers"`
	Nodes          int       `json:"nodes"`
	EngineVersions []string  `json:"engine_versions"`
	Source         string    `json:"source"`
	AsOf           time.Time `json:"as_of"`
}

// SubjectKind tells what a diagnosis is about.
type SubjectKind string

// The kinds of subjects.
const (
	ServiceSubject SubjectKind = "service"
	NodeSubject    SubjectKind = "node"
	NetworkSubject SubjectKind = "network"
	ClusterSubject SubjectKind = "cluster"
)

// The kinds of subjects that only an incident has.
const (
	ConstraintSubject SubjectKind = "constraint"
	PluginSubject     SubjectKind = "plugin"
	PlatformSubject   SubjectKind = "platform"
	ResourceSubject   SubjectKind = "generic-resource"
	StackSubject      SubjectKind = "stack"
)

// Subject is what a diagnosis or an incident is about. ID is empty for what has none, such as a constraint.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	ID   string      `json:"id"`
	Name string      `json:"name"`
}

// Diagnosis is one cause of one stuck service, with what proves it.
type Diagnosis struct {
	// ID is a stable hash of subject, current or previous spec, component, cause and shape.
	ID      string  `json:"id"`
	Subject Subject `json:"subject"`
	Service string  `json:"service,omitempty"`
	Stack   string  `json:"stack,omitempty"`
	// Slot and Task are those of the task that waits longest.
	Slot  uint64 `json:"slot,omitempty"`
	Task  string `json:"task,omitempty"`
	Tasks int    `json:"tasks"`
	// Running and Wanted count the tasks of the service.
	Running int    `json:"running"`
	Wanted  int    `json:"wanted"`
	Impact  Impact `json:"impact"`
	// State is the task state they are stuck in, "none" where no task exists.
	State     string    `json:"state"`
	Since     time.Time `json:"since"`
	Component Component `json:"component"`
	Severity  Severity  `json:"severity"`
	Cause     string    `json:"cause"`
	Shape     string    `json:"shape,omitempty"`
	// Also are further causes that hold the same tasks, or that this one explains.
	Also    []Also `json:"also"`
	Summary string `json:"summary"`
	// DockerSays is Docker's own text on the task, whole.
	DockerSays string      `json:"docker_says,omitempty"`
	Evidence   []Evidence  `json:"evidence"`
	Check      []Check     `json:"check"`
	LastChange *LastChange `json:"last_change,omitempty"`
	// Nodes is the matrix: every node with every verdict, equal ones as one group.
	Nodes   []NodeGroup `json:"nodes,omitempty"`
	Nearest *Nearest    `json:"nearest,omitempty"`
	// Remedies are found apart from the analysis: null until they are, empty where there is none. Those that were proven
	// come first, and of these the ones that disturb less.
	Remedies []Remedy `json:"remedies"`
	// RemedyNotes say what remedies were looked for and not found, a sentence each.
	RemedyNotes []string `json:"remedy_notes,omitempty"`

	// HealsItself tells when it ends without anybody's doing: "when node-2 returns", "when task ID ends", "no"; empty where
	// that is not known.
	HealsItself string `json:"heals_itself,omitempty"`

	Confidence Confidence `json:"confidence"`
	Blind      []string   `json:"blind,omitempty"`

	// Monitor is how long the service has to be as desired before this counts as resolved.
	Monitor time.Duration `json:"-"`

	// Waiting is what the matrix says, for causes of the scheduler: once, or for preassigned tasks once a node, the node
	// that comes closest first.
	Waiting []*Waiting `json:"-"`

	stuck   []string // the ids of all its tasks
	missing int      // how many slots of it have no task
	behind  []thing  // what may be behind other diagnoses, too
}

// Risk says what a remedy costs while it is done.
type Risk string

// The risks: no running task changes; tasks restart; fewer than wanted run meanwhile; a task may run twice or lose a volume.
const (
	NoRisk   Risk = "none"
	Restarts Risk = "restarts"
	Outage   Risk = "outage"
	DataRisk Risk = "data"
)

// Remedy is a change that helps. Nothing is ever deleted by one.
type Remedy struct {
	// Command does it, for a shell; where it does not run on a manager, At names the node.
	Command string `json:"command"`
	At      string `json:"at,omitempty"`
	// Verified tells that swarmkit's scheduler, run over a copy of the cluster with this change, placed tasks.
	Verified bool `json:"verified"`
	// Places is how many of the waiting tasks that placed, less those of the service that run now and would lose their place
	// to them; On are the names of the nodes they go to: where these are more, the scheduler takes any of them.
	Places int      `json:"places"`
	On     []string `json:"on,omitempty"`
	Risk   Risk     `json:"risk"`
	// Restarts is how many running tasks are made anew.
	Restarts int `json:"restarts"`
	// Compose is the same change in a stack's file: without it, the next docker stack deploy undoes the command.
	Compose *Compose `json:"compose,omitempty"`
	// Note is what to know before: one sentence or more.
	Note string `json:"note,omitempty"`
}

// Compose is a setting in the compose file of a stack.
type Compose struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Also is a further cause of the same stuck tasks.
type Also struct {
	Cause    string     `json:"cause"`
	Shape    string     `json:"shape,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Evidence is one fact. Amounts are in the unit named: bytes, cores, or a count of what What says.
type Evidence struct {
	// What the fact is about: memory, cpu, generic:<kind>, constraint, plugin, platform, host-port, replicas, volume, node, state.
	What string `json:"what"`
	Unit string `json:"unit,omitempty"`
	// Asked, Free and Short are amounts on Node: free may be negative, short is asked less free.
	Asked *float64 `json:"asked,omitempty"`
	Free  *float64 `json:"free,omitempty"`
	Short *float64 `json:"short,omitempty"`
	// Total is what Node has in all.
	Total *float64 `json:"total,omitempty"`
	Node  string   `json:"node,omitempty"`
	// Wanted is what the service asks for where that is no amount: a constraint, a plugin, a platform, a port.
	Wanted string `json:"wanted,omitempty"`
	// Found tells what the nodes have instead.
	Found []Found `json:"found,omitempty"`
	// Hint is what was probably meant, or the next step to look at: one sentence.
	Hint string `json:"hint,omitempty"`
	// Holders have most of it on Node, largest first, at most five.
	Holders []Holder `json:"holders,omitempty"`
}

// Found is one value and the nodes that have it; at most five of them are named.
type Found struct {
	Value string   `json:"value"`
	Nodes []string `json:"nodes"`
	// Count is the number of nodes in all.
	Count int `json:"count"`
}

// Holder is a task that holds what another one waits for.
type Holder struct {
	Service string  `json:"service"`
	Task    string  `json:"task"`
	Node    string  `json:"node,omitempty"`
	Amount  float64 `json:"amount"`
	// Stopping tells that the task should have ended: it holds what it has until it does.
	Stopping bool `json:"stopping,omitempty"`
}

// Check is a read-only command that proves a diagnosis by hand, and what it prints now.
type Check struct {
	Command string `json:"command"`
	Shows   string `json:"shows"`
}

// LastChange tells what the last update of the service changed; values of environment variables are never told.
type LastChange struct {
	At   time.Time `json:"at"`
	What []string  `json:"what"`
}

// NodeGroup is a set of nodes with the same verdicts.
type NodeGroup struct {
	Names []string `json:"names"`
	// Verdicts are pass, fail, skip or unknown, by filter.
	Verdicts map[string]string `json:"verdicts"`
	Why      []string          `json:"why"`
}

// Nearest is the node that comes closest to taking the task.
type Nearest struct {
	Node  string   `json:"node"`
	Fails []string `json:"fails"`
	Short []Short  `json:"short,omitempty"`
}

// Short is an amount that a node lacks.
type Short struct {
	What  string  `json:"what"`
	Unit  string  `json:"unit"`
	Short float64 `json:"short"`
}

// IsStuck tells whether anything is critical in the result; strict counts warnings, too.
func (r *Result) IsStuck(strict bool) bool {
	return slices.ContainsFunc(r.Diagnoses, func(d Diagnosis) bool {
		return d.Severity == Critical || strict && d.Severity == Warning
	})
}
