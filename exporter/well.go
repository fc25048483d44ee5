package exporter

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/redact"
)

// Well is what was asked for and is not stuck, or a node that takes no tasks.
type Well struct {
	// Says tells how it is: one sentence.
	Says string `json:"says"`
	// Service is the name where it is one.
	Service string `json:"service,omitempty"`
	// Where tells why a service runs where it runs; nil for one that is to run nowhere.
	Where *analyzer.Whereabouts `json:"where,omitempty"`
}

// Answer is what one look came to, as JSON: what is stuck, and of what was asked for what is not.
type Answer struct {
	analyzer.Result
	Well []Well `json:"well,omitempty"`
}

// WellOf says of what was asked for by name and is not stuck how it is, and of a node that does not take tasks why that is so. Of
// a service it says why it runs where it runs, too. The result is a whole one of that state at that time; the scope's names must
// exist. Free text in it is safe to show.
func WellOf(state *collector.State, scope analyzer.Scope, result analyzer.Result, now time.Time) ([]Well, error) {
	var well []Well
	for _, name := range scope.Names {
		one := analyzer.Scope{Names: []string{name}, Stack: scope.Stack, Node: scope.Node}
		stuck, err := isStuck(state, one, result)
		if err != nil {
			return nil, err
		}
		if !stuck {
			well = append(well, wellNamed(state, name, now))
		}
	}
	if scope.Node != "" {
		for _, says := range away(state, scope.Node) {
			well = append(well, Well{Says: says})
		}
	}
	if len(scope.Names) > 0 || scope.Stack == "" && scope.Node == "" {
		return well, nil
	}
	stuck, err := isStuck(state, scope, result)
	switch {
	case err != nil:
		return nil, err
	case stuck:
	case scope.Node == "":
		well = append(well, Well{Says: fmt.Sprintf("Nothing of stack %s is stuck.", scope.Stack)})
	case scope.Stack == "":
		well = append(well, Well{Says: fmt.Sprintf("Nothing that should run on %s is stuck.", scope.Node)})
	default:
		well = append(well, Well{Says: fmt.Sprintf("Nothing of stack %s that should run on %s is stuck.", scope.Stack, scope.Node)})
	}
	return well, nil
}

// wellNamed tells of a service by its name or id, or of a task, that it is not stuck.
func wellNamed(state *collector.State, name string, now time.Time) Well {
	well := Well{Says: howIs(state, name)}
	s := cmp.Or(state.ServiceNamed(name), state.Service(name))
	if s == nil {
		return well
	}
	well.Service = s.Spec.Annotations.Name
	if replicated := s.Spec.GetReplicated(); replicated == nil || replicated.Replicas > 0 {
		where := redactWhereabouts(analyzer.WhereaboutsOf(state, s, now))
		well.Where = &where
	}
	return well
}

// isStuck tells whether anything in the scope is stuck, silenced or not, or waits for a node that was not seen.
func isStuck(state *collector.State, scope analyzer.Scope, result analyzer.Result) (bool, error) {
	if err := scope.Resolve(state); err != nil {
		return false, err
	}
	narrowed := scope.Narrow(state, result)
	return len(narrowed.Diagnoses)+len(narrowed.Ignored)+len(narrowed.Unjudged) > 0, nil
}

// howIs tells how a service is that is not stuck, by its name or id; a task only that it is not stuck.
func howIs(state *collector.State, name string) string {
	s := cmp.Or(state.ServiceNamed(name), state.Service(name))
	if s == nil {
		return name + " is not stuck."
	}
	name = s.Spec.Annotations.Name
	states := slotStates(state, s)
	good, done := "running", "run"
	if s.Spec.GetReplicatedJob() != nil || s.Spec.GetGlobalJob() != nil {
		good, done = "complete", "are complete"
	}
	count, yet := fmt.Sprint(states[good]), ""
	switch mode := s.Spec.Mode.(type) {
	case *api.ServiceSpec_Replicated:
		if mode.Replicated.Replicas == 0 {
			return name + " is not stuck: it is scaled to 0."
		}
		count = fmt.Sprintf("%s of %d", count, mode.Replicated.Replicas)
		if states[good] < int(mode.Replicated.Replicas) {
			yet = " yet"
		}
	case *api.ServiceSpec_ReplicatedJob:
		count = fmt.Sprintf("%s of %d", count, mode.ReplicatedJob.TotalCompletions)
	}
	said := fmt.Sprintf("%s is not stuck%s: %s tasks %s", name, yet, count, done)
	for _, other := range slices.Sorted(maps.Keys(states)) {
		if other != good {
			said += fmt.Sprintf(", %d %s", states[other], other)
		}
	}
	return said + "."
}

// slotStates counts the slots of a service (of a global one: the nodes) by the state of the task that speaks for them: one that is
// as desired, else the newest. Tasks that were shut down or that Swarm removes speak for none.
func slotStates(state *collector.State, s *api.Service) map[string]int {
	type slot struct {
		number uint64
		node   string
	}
	speaks := map[slot]*api.Task{}
	for t := range state.TasksOf(s.ID) {
		key := slot{number: t.Slot}
		if s.Spec.GetGlobal() != nil || s.Spec.GetGlobalJob() != nil {
			key = slot{node: t.NodeID}
		}
		isOld := s.JobStatus != nil && t.JobIteration != nil && t.JobIteration.Index != s.JobStatus.JobIteration.Index
		if isOld || t.DesiredState == api.TaskStateRemove || t.Status.State == api.TaskStateShutdown {
			continue
		}
		if known := speaks[key]; known == nil || speaksRather(t, known) {
			speaks[key] = t
		}
	}
	states := map[string]int{}
	for _, t := range speaks {
		states[strings.ToLower(t.Status.State.String())]++
	}
	return states
}

// speaksRather tells whether a speaks for a slot rather than b: it is as desired and b is not, else the newer one does.
func speaksRather(a, b *api.Task) bool {
	isGood := func(t *api.Task) bool {
		return t.Status.State == t.DesiredState && t.DesiredState <= api.TaskStateCompleted
	}
	if isGood(a) != isGood(b) {
		return isGood(a)
	}
	return a.Meta.CreatedAt.Compare(b.Meta.CreatedAt) > 0
}

// away tells why a node takes no tasks; nothing of one that does.
func away(state *collector.State, name string) []string {
	for _, n := range filters.NewCluster(state).Nodes() {
		if n.ID != name && (n.Description == nil || n.Description.Hostname != name) {
			continue
		}
		var why []string
		if n.Status.State != api.NodeStatus_READY {
			is := fmt.Sprintf("%s is %s", n.Name, strings.ToLower(n.Status.State.String()))
			if message := redact.Text(n.Status.Message); message != "" {
				is += " (" + message + ")"
			}
			why = append(why, is+": it takes no tasks, and what ran there is not known to run.")
		}
		switch n.Spec.Availability {
		case api.NodeAvailabilityDrain:
			why = append(why, n.Name+" is drained: its tasks were moved away, and it takes none until it is active.")
		case api.NodeAvailabilityPause:
			why = append(why, n.Name+" is paused: it keeps its tasks and takes no new ones until it is active.")
		}
		return why
	}
	return nil
}
