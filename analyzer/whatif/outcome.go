package whatif

import "github.com/swarmdiag/swarmdiag/analyzer"

// Outcome is what a change would do.
type Outcome struct {
	// PlacesAll tells that every task of the services that the change is about would run, with its new spec: of those that it
	// makes, updates or displaces; where it is one of nodes, also of all that waits. A global service that no node would run,
	// or that its new spec takes off a node, is no such one.
	PlacesAll bool `json:"places_all"`
	// About are the names of the services that the change makes or updates, none where it is one of nodes.
	About []string `json:"about"`
	// Services are those that the change is about, then the others of which tasks are placed.
	Services []Service `json:"services"`
	// StillWaiting are tasks of other services that wait, and to which what becomes free gives no place.
	StillWaiting []Waiters `json:"still_waiting"`
	// Displaced are running tasks that lose their place, by service and node.
	Displaced []Displaced `json:"displaced"`
	// Diagnoses say why what is left waiting waits.
	Diagnoses []analyzer.Diagnosis `json:"diagnoses"`
	// Unchecked is what could not be looked at.
	Unchecked []string `json:"unchecked"`
}

// Service is what becomes of one service.
type Service struct {
	Name string `json:"name"`
	// Other tells that the change is not about the service: its tasks waited for the room that becomes free.
	Other bool `json:"other,omitempty"`
	// New and Removed tell that the service begins or ends with the change.
	New     bool `json:"new,omitempty"`
	Removed bool `json:"removed,omitempty"`
	// Wanted, Running and Waiting count tasks, in the end.
	Wanted  int `json:"wanted"`
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	// Complete counts slots whose task ended well, Lost those whose task ended otherwise or loses its place, where the
	// restart policy has no other task follow: swarmkit takes such a slot as filled.
	Complete int `json:"complete,omitempty"`
	Lost     int `json:"lost,omitempty"`
	// Ends counts the tasks of a global service whose nodes its new spec excludes. None follows them.
	Ends int `json:"ends,omitempty"`
	// Nowhere tells of a global service that the change makes or updates, or whose last task it displaces, that no node would
	// run it.
	Nowhere bool `json:"nowhere,omitempty"`
	// Unaddressed counts tasks that may get no address: others on a network of theirs wait for the allocator now.
	Unaddressed int `json:"unaddressed,omitempty"`
	// Placed is how many tasks the scheduler gave a node in all, those of the update included.
	Placed int `json:"placed"`
	// On is where the tasks run in the end, and how many ran there before.
	On []NodeCount `json:"on"`
	// DockerWouldSay is the scheduler's text on a task that waits.
	DockerWouldSay string  `json:"docker_would_say,omitempty"`
	Update         *Update `json:"update,omitempty"`
}

// NodeCount is how many tasks of a service a node has.
type NodeCount struct {
	Node   string `json:"node"`
	Tasks  int    `json:"tasks"`
	Before int    `json:"before"`
}

// Waiters are tasks of a service that wait for a node.
type Waiters struct {
	Service string `json:"service"`
	Tasks   int    `json:"tasks"`
}

// Displaced are tasks of a service that lose their place on a node.
type Displaced struct {
	Service string `json:"service"`
	Node    string `json:"node"`
	Tasks   int    `json:"tasks"`
	// Why is "drained", "constraints", "scaled down" or "service removed".
	Why string `json:"why"`
}

// Update is a rolling update, step by step.
type Update struct {
	Order string `json:"order"`
	// Parallelism is how many tasks are replaced at once.
	Parallelism int `json:"parallelism"`
	// Replaces is how many tasks are made anew, Done how many of these get there.
	Replaces int    `json:"replaces"`
	Done     int    `json:"done"`
	Steps    []Step `json:"steps"`
	// Capped tells that the look ended before the update does.
	Capped bool `json:"capped,omitempty"`
	// Needs is what the step that stops the update lacks; nothing where none does.
	Needs []Need `json:"needs,omitempty"`
}

// Stops tells that the update cannot go on by itself.
func (u *Update) Stops() bool { return u != nil && !u.Capped && u.Done < u.Replaces }

// Step is one batch of an update.
type Step struct {
	Replaces int      `json:"replaces"`
	Placed   int      `json:"placed"`
	On       []string `json:"on"`
	// Left is how many tasks are still to be replaced after it.
	Left int `json:"left"`
}

// Need is an inequality that does not hold: Tasks new ones want Each, beside Beside tasks of the service that run and hold
// BesideEach of it and those of BesideAlso, and Node, the nearest, has Free.
type Need struct {
	What   string  `json:"what"`
	Unit   string  `json:"unit,omitempty"`
	Tasks  int     `json:"tasks"`
	Each   float64 `json:"each,omitempty"`
	Beside int     `json:"beside"`
	// BesideEach is what each of those holds; nothing where none of the service's tasks that run holds any.
	BesideEach float64 `json:"beside_each,omitempty"`
	// BesideAlso are those that hold less, as old tasks do where the new spec asks for more.
	BesideAlso []Held  `json:"beside_also,omitempty"`
	Free       float64 `json:"free"`
	Node       string  `json:"node,omitempty"`
	// Wanted is what is asked for where that is no amount: a port, a constraint.
	Wanted string `json:"wanted,omitempty"`
}

// Held is how many tasks hold so much each.
type Held struct {
	Tasks int     `json:"tasks"`
	Each  float64 `json:"each"`
}
