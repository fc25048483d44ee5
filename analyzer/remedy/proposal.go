package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// proposal is a change that may place what a diagnosis is about.
type proposal struct {
	commands []command
	// at is the node that the commands run on where that is not a manager.
	at string
	// change does to a copy of the cluster what the commands do; nil where no copy can show that it works.
	change  func(*Draft)
	compose []analyzer.Compose
	note    string
	// disturbs does to a copy what is known of a change that none can show to work; nil where that moves no task.
	disturbs func(*Draft)
	// risk and restarts are what is known without a copy; none where change is set.
	risk     analyzer.Risk
	restarts int
	// instead names a kind of proposals of which the first that works is enough.
	instead string
}

// Labels that docker and swarmdiag read.
const (
	labelStack       = "com.docker.stack.namespace"
	labelMaintenance = "swarmdiag.maintenance"
)

// updateService proposes an update of the service that waits. There is none for tasks without a service, or with another
// spec than the service has: an update makes these anew from that one, whatever else it changes.
func (s *subject) updateService(change func(*api.ServiceSpec), flags ...string) []proposal {
	if s.service == nil || s.former {
		return nil
	}
	id := s.service.ID
	return []proposal{{
		commands: []command{{serviceUpdate, flags, s.service.Spec.Annotations.Name}},
		change:   func(d *Draft) { d.Update(id, change) },
	}}
}

// resumes tells of an update that stands still, which the next one lets go on (manager/controlapi.Server.UpdateService clears
// the status of the update, at which orchestrator/update.Updater.Run stops); "" where there is none.
func resumes(s *api.Service) string {
	if s == nil || s.UpdateStatus == nil {
		return ""
	}
	switch s.UpdateStatus.State {
	case api.UpdateStatus_PAUSED:
		return fmt.Sprintf("the update of %s is paused: this command resumes it", s.Spec.Annotations.Name)
	case api.UpdateStatus_ROLLBACK_PAUSED:
		return fmt.Sprintf("the rollback of %s is paused: this command resumes it", s.Spec.Annotations.Name)
	}
	return ""
}

// inStack adds where the same stands in a stack's file, below the service; nothing for a service of no stack.
func (s *subject) inStack(proposals []proposal, path, value string) []proposal {
	stack := ""
	if s.service != nil {
		stack = s.service.Spec.Annotations.Labels[labelStack]
	}
	if stack == "" {
		return proposals
	}
	name := strings.TrimPrefix(s.service.Spec.Annotations.Name, stack+"_")
	for i := range proposals {
		proposals[i].compose = append(proposals[i].compose, analyzer.Compose{Path: "services." + name + "." + path, Value: value})
	}
	return proposals
}

// noted adds what to know before to proposals.
func noted(proposals []proposal, note string) []proposal {
	for i := range proposals {
		proposals[i].note = join(proposals[i].note, note)
	}
	return proposals
}

// updateNode is a command on a node.
func updateNode(n *filters.Node, flags ...string) command {
	return command{"docker node update", flags, n.Ref()}
}

// combine makes one of several proposals.
func combine(set []proposal) proposal {
	var together proposal
	var commands []command
	for _, p := range set {
		commands = append(commands, p.commands...)
		together.compose = append(together.compose, p.compose...)
		if !strings.Contains(together.note, p.note) {
			together.note = join(together.note, p.note)
		}
	}
	// An update of a service waits until its tasks run: what lets them be placed has to be done before.
	together.commands = merge(commands)
	isLast := map[string]int{serviceUpdate: 1}
	slices.SortStableFunc(together.commands, func(a, b command) int { return isLast[a.verb] - isLast[b.verb] })
	together.change = func(d *Draft) {
		for _, p := range set {
			p.change(d)
		}
	}
	return together
}

// remedy is the proposal before anything is known of what it does.
func (p proposal) remedy() analyzer.Remedy {
	r := analyzer.Remedy{Command: line(p.commands), At: p.at, Risk: cmp.Or(p.risk, analyzer.NoRisk), Restarts: p.restarts, Note: p.note}
	for i, c := range p.compose {
		if i == 0 {
			r.Compose = &p.compose[0]
			continue
		}
		r.Note = join(r.Note, fmt.Sprintf("in the stack's file also %s: %s", c.Path, c.Value))
	}
	return r
}

// key is the same for proposals of the same commands at the same place.
func (p proposal) key() string { return p.at + " " + line(p.commands) }

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
