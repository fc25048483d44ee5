package exporter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// holdTime is how long a change of cause has to last before it is said, and the least that a service has to be as
	// desired before it counts as resolved.
	holdTime = 5 * time.Second
	// unsettledTime is how long after a change of leader nothing is said. Nodes are unknown until they register with the
	// new one: within 12 s, unless they are gone (manager/dispatcher.markNodesUnknown).
	unsettledTime = 20 * time.Second
)

// EventKind tells what an Event says.
type EventKind string

// The kinds: a diagnosis appeared, its cause changed, it is resolved, this agent speaks from now on.
const (
	Stuck    EventKind = "stuck"
	Changed  EventKind = "changed"
	Resolved EventKind = "resolved"
	Takeover EventKind = "takeover"
)

// Event is one thing to say.
type Event struct {
	Kind EventKind
	At   time.Time
	// Diagnosis is what the event is about; of a resolved one what it was. Since is when the service got stuck, by whatever cause.
	Diagnosis analyzer.Diagnosis
	// Was is the cause before; of Changed only.
	Was string
	// Lasted is how long the service was stuck, By what ended it; of Resolved only.
	Lasted time.Duration
	By     string
	// Open counts the open diagnoses by cause; of Takeover only.
	Open map[string]int
}

// Record remembers what was already said, so that every fault is said once. It holds the diagnoses of the last result
// and those that disappeared less than their monitor time ago. Its clock is the caller's.
type Record struct {
	lastChange func(*api.Service) *analyzer.LastChange

	said   map[fault]*said
	before *collector.State
	// unsettled is since when nodes are unknown after a change of leader; zero while none is.
	unsettled time.Time
	// settled is when that ended: nothing has lasted for longer than since then.
	settled time.Time
	next    time.Time
}

// said is a diagnosis that was said and not yet taken back.
type said struct {
	analyzer.Diagnosis
	// gone is since when it is missing; zero while it is there. by is what ended it, empty while that is not known.
	gone time.Time
	by   string
	// successor is what came in its place at this time, and is not said yet; the zero fault while there is none.
	successor fault
	came      time.Time
}

// NewRecord returns a record of nothing said. lastChange tells what the last update of a service changed, nil where it had none.
func NewRecord(lastChange func(*api.Service) *analyzer.LastChange) *Record {
	return &Record{lastChange: lastChange, said: map[fault]*said{}}
}

// Next returns when Update has something to say even if nothing changes; zero when it has not.
func (r *Record) Next() time.Time { return r.next }

// TakeOver returns the one line of an agent that followed silently and speaks from now on.
func (r *Record) TakeOver(now time.Time) Event {
	open := map[string]int{}
	for _, s := range r.said {
		open[s.Cause]++
	}
	return Event{Kind: Takeover, At: now, Open: open}
}

// Update returns what is new in the result of the state: what is stuck, in the result's order, then what is resolved.
// A state without any node is none, and says nothing.
func (r *Record) Update(result analyzer.Result, state *collector.State, now time.Time) []Event {
	if result.Cluster.Nodes == 0 {
		return nil
	}
	found, current := distinct(result.Diagnoses), map[fault]bool{}
	for _, d := range found {
		current[faultOf(&d)] = true
		if s := r.said[faultOf(&d)]; s != nil {
			s.refresh(d)
		}
	}
	r.miss(current, step{before: r.before, after: state, result: &result, lastChange: r.lastChange}, now)
	r.before = state

	var events []Event
	if r.settle(state, now) {
		events = append(r.appeared(found, now), r.resolved(state, now)...)
	}
	r.plan(state, now)
	return events
}

// refresh takes over what is new about a diagnosis that is there; it keeps the earliest time.
func (s *said) refresh(d analyzer.Diagnosis) {
	d.Since = earlier(s.Since, d.Since)
	*s = said{Diagnosis: d}
}

// miss notes which of the diagnoses said are gone, and what ended them.
func (r *Record) miss(current map[fault]bool, step step, now time.Time) {
	nodes := sync.OnceValue(step.nodes)
	for f, s := range r.said {
		if current[f] {
			continue
		}
		if s.gone.IsZero() || step.result.Unsettled[s.Subject.ID] { // nothing is resolved before its service is as desired
			s.gone = now
		}
		if s.by == "" || s.by == silenced {
			s.by = step.whatEnded(&s.Diagnosis, nodes)
		}
		if !current[s.successor] {
			s.successor = fault{}
		}
	}
}

// settle tells whether what the state says is to be taken for more than a passing effect of a change of leader.
func (r *Record) settle(state *collector.State, now time.Time) bool {
	switch unknown := afterLeaderChange(state); {
	case unknown && r.unsettled.IsZero():
		r.unsettled = now
	case !unknown && !r.unsettled.IsZero():
		r.unsettled, r.settled = time.Time{}, now
	}
	if r.unsettled.IsZero() {
		return true
	}
	if now.Sub(r.unsettled) < unsettledTime {
		return false
	}
	r.settled = r.unsettled.Add(unsettledTime)
	return true
}

// afterLeaderChange tells whether a node is unknown because the leader is a new one (manager/dispatcher.markNodesUnknown);
// a node that never registered is unknown too, without a message.
func afterLeaderChange(state *collector.State) bool {
	for n := range state.Nodes() {
		if n.Status.State == api.NodeStatus_UNKNOWN && strings.Contains(n.Status.Message, "leadership change") {
			return true
		}
	}
	return false
}

// appeared says every diagnosis that is new, unless it may only pass in the place of another one.
func (r *Record) appeared(diagnoses []analyzer.Diagnosis, now time.Time) []Event {
	var events []Event
	for _, d := range diagnoses {
		f := faultOf(&d)
		if r.said[f] != nil {
			continue
		}
		old := r.predecessor(&d)
		switch {
		case old == nil:
			r.said[f] = &said{Diagnosis: d}
			events = append(events, Event{Kind: Stuck, At: now, Diagnosis: d})
		case old.successor != f:
			old.successor, old.came = f, now
		case !now.Before(later(old.came, r.settled).Add(holdTime)):
			d.Since = earlier(old.Since, d.Since)
			delete(r.said, faultOf(&old.Diagnosis))
			r.said[f] = &said{Diagnosis: d}
			events = append(events, Event{Kind: Changed, At: now, Diagnosis: d, Was: old.Cause})
		}
	}
	return events
}

// predecessor finds the diagnosis of the same subject that disappeared and that d is about to follow: the one it already
// waits for, else of the same component, else the one stuck for longest; nil where there is none.
func (r *Record) predecessor(d *analyzer.Diagnosis) *said {
	var found *said
	for _, s := range r.said {
		if s.Subject != d.Subject || s.gone.IsZero() || s.successor != (fault{}) && s.successor != faultOf(d) {
			continue
		}
		if found == nil || follows(d, s, found) {
			found = s
		}
	}
	return found
}

// follows tells whether d rather follows a than b.
func follows(d *analyzer.Diagnosis, a, b *said) bool {
	switch {
	case a.successor != b.successor:
		return a.successor == faultOf(d)
	case a.Component != b.Component && (a.Component == d.Component || b.Component == d.Component):
		return a.Component == d.Component
	case !a.Since.Equal(b.Since):
		return a.Since.Before(b.Since)
	}
	return a.ID < b.ID
}

// resolved takes back what has been gone for long enough, by service.
func (r *Record) resolved(state *collector.State, now time.Time) []Event {
	var events []Event
	for f, s := range r.said {
		if s.gone.IsZero() || s.successor != (fault{}) || now.Before(r.due(s, state)) {
			continue
		}
		delete(r.said, f)
		if s.by == "" {
			s.by = r.whatIsNow(s, state)
		}
		events = append(events, Event{
			Kind: Resolved, At: now, Diagnosis: s.Diagnosis, Lasted: lasted(s), By: s.by,
		})
	}
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Diagnosis.Subject.Name, b.Diagnosis.Subject.Name), cmp.Compare(a.Diagnosis.ID, b.Diagnosis.ID))
	})
	return events
}

// due is when a diagnosis that is gone counts as resolved. A service that is removed does not come back, and one that is
// silenced is not watched for how it does.
func (r *Record) due(s *said, state *collector.State) time.Time {
	monitor := max(s.Monitor, holdTime)
	if isRemoved(s.Subject, state) || s.by == silenced {
		monitor = holdTime
	}
	return later(s.gone, r.settled).Add(monitor)
}

// plan finds out when the next thing becomes due.
func (r *Record) plan(state *collector.State, now time.Time) {
	r.next = time.Time{}
	if !r.unsettled.IsZero() && now.Before(r.unsettled.Add(unsettledTime)) {
		r.next = r.unsettled.Add(unsettledTime)
		return
	}
	for _, s := range r.said {
		due := time.Time{}
		switch {
		case s.successor != (fault{}):
			due = later(s.came, r.settled).Add(holdTime)
		case !s.gone.IsZero():
			due = r.due(s, state)
		}
		if !due.IsZero() && (r.next.IsZero() || due.Before(r.next)) {
			r.next = due
		}
	}
}

// earlier returns the earlier of two times; one that is not known does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// lasted is how long a service was stuck, zero where it is not known since when.
func lasted(s *said) time.Duration {
	if s.Since.IsZero() {
		return 0
	}
	return max(0, s.gone.Sub(s.Since))
}
