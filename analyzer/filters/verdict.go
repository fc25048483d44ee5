package filters

import "fmt"

// Name names a filter.
type Name int

// The filters, in the order of the scheduler's pipeline (manager/scheduler.defaultFilters, then VolumesFilter).
const (
	Ready Name = iota
	Resources
	Plugins
	Constraints
	Platform
	HostPort
	MaxReplicas
	Volumes

	count = int(Volumes) + 1
)

var names = [count]string{"ready", "resources", "plugins", "constraints", "platform", "host-port", "max-replicas", "volumes"}

// String returns the name as metrics and JSON spell it.
func (n Name) String() string { return names[n] }

// MarshalText implements encoding.TextMarshaler: JSON has the name, not the number.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// All returns every filter in pipeline order.
func All() []Name {
	all := make([]Name, count)
	for i := range all {
		all[i] = Name(i)
	}
	return all
}

// Verdict is what one filter says of one node.
type Verdict uint8

// The verdicts: the filter does not apply to the task, takes the node, refuses it, or lacks the data.
const (
	Skip Verdict = iota
	Pass
	Fail
	Unknown
)

// String returns the verdict as JSON spells it.
func (v Verdict) String() string { return [...]string{"skip", "pass", "fail", "unknown"}[v] }

// Verdicts is one node's row of the matrix.
type Verdicts [count]Verdict

// Fails returns the filters that refuse, in pipeline order.
func (v Verdicts) Fails() []Name {
	var fails []Name
	for i, verdict := range v {
		if verdict == Fail {
			fails = append(fails, Name(i))
		}
	}
	return fails
}

// Count tells how many filters gave this verdict.
func (v Verdicts) Count(verdict Verdict) int {
	number := 0
	for _, one := range v {
		if one == verdict {
			number++
		}
	}
	return number
}

// Map returns the verdicts by name, in words.
func (v Verdicts) Map() map[string]string {
	m := make(map[string]string, count)
	for i, verdict := range v {
		m[Name(i).String()] = verdict.String()
	}
	return m
}

// Reason is why a node refuses a task: a filter and, for resources, what is short there.
type Reason struct {
	Filter Name
	// What is memory, cpu or generic:<kind> for Resources, else empty.
	What string
}

// String returns the reason for messages of tests.
func (r Reason) String() string { return fmt.Sprintf("%s %s", r.Filter, r.What) }
