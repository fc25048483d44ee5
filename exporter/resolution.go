package exporter

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// mostChanges is how many changes one line names.
const mostChanges = 3

// silenced is what ended a diagnosis that a label took out of the log. Its event is resolved as any other's, so that whoever
// pairs the lines closes it; the words say that the service still is as it was.
const silenced = "silenced by a label; it is still stuck"

// step is what happened from one state to the next.
type step struct {
	// before is nil at the first state.
	before, after *collector.State
	result        *analyzer.Result
	lastChange    func(*api.Service) *analyzer.LastChange
}

// whatEnded tells which change may have ended a diagnosis that disappeared in this step; empty where none is seen.
// nodes are the changes of nodes.
func (s step) whatEnded(d *analyzer.Diagnosis, nodes func() []string) string {
	if s.before == nil {
		return ""
	}
	if slices.ContainsFunc(s.result.Ignored, func(i analyzer.Diagnosis) bool { return faultOf(&i) == faultOf(d) }) {
		return silenced
	}
	if isRemoved(d.Subject, s.after) {
		return string(d.Subject.Kind) + " removed"
	}
	changes := s.service(d)
	if len(changes) == 0 {
		changes = nodes()
	}
	if len(changes) == 0 {
		changes = s.holders(d)
	}
	if more := len(changes) - mostChanges; more > 0 {
		changes = append(changes[:mostChanges:mostChanges], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(changes, "; ")
}

// service tells how the service of a diagnosis was updated.
func (s step) service(d *analyzer.Diagnosis) []string {
	if d.Subject.Kind != analyzer.ServiceSubject {
		return nil
	}
	before, after := s.before.Service(d.Subject.ID), s.after.Service(d.Subject.ID)
	if before == nil || after == nil ||
		reflect.DeepEqual(before.Spec, after.Spec) && reflect.DeepEqual(before.PreviousSpec, after.PreviousSpec) {
		return nil
	}
	change := s.lastChange(after)
	if change == nil || len(change.What) == 0 {
		return []string{"service updated"}
	}
	what := slices.Clone(change.What)
	what[0] = "service updated: " + what[0]
	return what
}

// holders tells which tasks ended that held what the diagnosis was short of.
func (s step) holders(d *analyzer.Diagnosis) []string {
	var ended []string
	for _, evidence := range d.Evidence {
		for _, holder := range evidence.Holders {
			if !holds(s.before.Task(holder.Task)) || holds(s.after.Task(holder.Task)) {
				continue
			}
			node := holder.Node
			if node == "" {
				node = evidence.Node
			}
			ended = append(ended, fmt.Sprintf("a task of %s on %s ended, which held %s", holder.Service, node, evidence.What))
		}
	}
	return ended
}

func holds(t *api.Task) bool { return t != nil && t.Status.State <= api.TaskStateRunning }

// nodes tells which nodes came, went or changed, by name.
func (s step) nodes() []string {
	if s.before == nil {
		return nil
	}
	if changed, known := s.after.ChangedSince(s.before); known && len(changed.Nodes) == 0 {
		return nil
	}
	before, after := filters.NewCluster(s.before), filters.NewCluster(s.after)
	var changes []string
	for _, n := range after.Nodes() {
		old := before.Node(n.ID)
		if old == nil {
			changes = append(changes, "node "+n.Name+" joined")
			continue
		}
		for _, change := range nodeChanges(old.Node, n.Node) {
			changes = append(changes, "node "+n.Name+": "+change)
		}
	}
	for _, n := range before.Nodes() {
		if after.Node(n.ID) == nil {
			changes = append(changes, "node "+n.Name+" removed")
		}
	}
	return changes
}

func nodeChanges(before, after *api.Node) []string {
	var changes []string
	turned := func(what, from, to string) {
		if from != to {
			changes = append(changes, strings.ToLower(fmt.Sprintf("%s %s -> %s", what, from, to)))
		}
	}
	turned("availability", before.Spec.Availability.String(), after.Spec.Availability.String())
	turned("state", before.Status.State.String(), after.Status.State.String())
	turned("role", before.Role.String(), after.Role.String())
	changes = append(changes, labelChanges("label", before.Spec.Annotations.Labels, after.Spec.Annotations.Labels)...)
	if before.Description == nil || after.Description == nil {
		return changes
	}
	was, is := before.Description.Engine, after.Description.Engine
	if was != nil && is != nil {
		changes = append(changes, labelChanges("engine label", was.Labels, is.Labels)...)
		if !slices.Equal(was.Plugins, is.Plugins) {
			changes = append(changes, "other plugins")
		}
	}
	if !reflect.DeepEqual(before.Description.Resources, after.Description.Resources) {
		changes = append(changes, "other resources")
	}
	return changes
}

func labelChanges(kind string, before, after map[string]string) []string {
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		switch old, had := before[name]; {
		case !had:
			changes = append(changes, fmt.Sprintf("%s %s=%s added", kind, name, after[name]))
		case old != after[name]:
			changes = append(changes, fmt.Sprintf("%s %s: %s -> %s", kind, name, old, after[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[name]; !has {
			changes = append(changes, fmt.Sprintf("%s %s removed", kind, name))
		}
	}
	return changes
}

// whatIsNow tells how things are where no change was seen that ended a diagnosis.
func (r *Record) whatIsNow(s *said, state *collector.State) string {
	for _, other := range r.said {
		if other.Subject == s.Subject && other != s && other.gone.IsZero() {
			return "still held by another cause: " + other.Cause
		}
	}
	running := 0
	if s.Subject.Kind == analyzer.ServiceSubject {
		for t := range state.TasksOf(s.Subject.ID) {
			if t.Status.State == api.TaskStateRunning && t.DesiredState == api.TaskStateRunning {
				running++
			}
		}
	}
	switch running {
	case 0:
		return "nothing is stuck any more"
	case 1:
		return "1 task runs"
	}
	return fmt.Sprintf("%d tasks run", running)
}

// isRemoved tells whether the subject is gone from the state.
func isRemoved(subject analyzer.Subject, state *collector.State) bool {
	switch subject.Kind {
	case analyzer.ServiceSubject:
		return state.Service(subject.ID) == nil
	case analyzer.NodeSubject:
		return state.Node(subject.ID) == nil
	case analyzer.NetworkSubject:
		return state.Network(subject.ID) == nil
	}
	return false
}
