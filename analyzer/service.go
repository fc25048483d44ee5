package analyzer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/gogo/protobuf/proto"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

const (
	labelStack       = "com.docker.stack.namespace"
	labelIgnore      = "swarmdiag.ignore"
	labelMaintenance = "swarmdiag.maintenance"

	// resolveTime is how long a service without an update monitor has to be as desired, and the least for any.
	resolveTime = 5 * time.Second
)

// diagnosis fills in all that is the same for every cause. stuck is not empty, the longest waiting first.
func (p *Pass) diagnosis(rule *Rule, component Component, f *Followed, stuck []*Stuck, finding Finding) Diagnosis {
	s, first := f.Service, stuck[0]
	d := Diagnosis{
		Subject:    Subject{Kind: ServiceSubject, ID: s.ID, Name: s.Spec.Annotations.Name},
		Service:    s.Spec.Annotations.Name,
		Stack:      s.Spec.Annotations.Labels[labelStack],
		Running:    f.Running,
		Wanted:     f.Wanted,
		Impact:     impact(f),
		State:      first.State,
		Since:      first.Since,
		Component:  component,
		Severity:   Critical,
		Cause:      rule.Cause,
		Shape:      finding.Shape,
		Also:       []Also{},
		Evidence:   finding.Evidence,
		Check:      finding.Check,
		LastChange: ChangeOf(s),
		Confidence: Certain,
		Monitor:    monitor(s),
		behind:     finding.behind,
	}
	for _, entry := range stuck {
		switch {
		case entry.Task == nil:
			d.missing += entry.Slots
			continue
		case d.Tasks == 0:
			d.Task, d.Slot = entry.Task.ID, entry.Slot
		}
		d.Tasks++
		d.stuck = append(d.stuck, entry.Task.ID)
	}
	if first.State == stateStopping {
		d.State = stateOf(first.Task)
	}
	current := isCurrent(s, first.Task)
	d.Summary = d.Service + ": "
	if d.Impact == Down {
		d.Summary = d.Service + " is down: "
	}
	if !current {
		d.Summary += "with a former spec of the service, "
	}
	d.Summary += finding.Summary
	d.ID = identify(&d, current)
	p.doubt(rule, &d)
	return d
}

// doubt lowers the confidence where the source hides, or could not give, what the rule infers.
func (p *Pass) doubt(rule *Rule, d *Diagnosis) {
	for _, field := range rule.Infers {
		for _, gap := range slices.Concat(p.State.Hides, p.State.Gaps) {
			if gap.What == field {
				d.Confidence = Likely
				d.Blind = append(d.Blind, field+": "+gap.Why)
			}
		}
	}
}

// identify hashes what makes a diagnosis the same one at the next look.
func identify(d *Diagnosis, current bool) string {
	spec := "current"
	if !current {
		spec = "previous"
	}
	key := strings.Join([]string{string(d.Subject.Kind), d.Subject.ID, spec, string(d.Component), d.Cause, d.Shape}, "\x00")
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}

// isCurrent tells whether the task is what today's spec of the service asks for; a missing task is one of today's. A task
// of a former version whose update changed nothing of the task is (manager/orchestrator.IsTaskDirty).
func isCurrent(s *api.Service, t *api.Task) bool {
	if t == nil || s.SpecVersion == nil || t.SpecVersion == nil || t.SpecVersion.Index == s.SpecVersion.Index {
		return true
	}
	was, endpoint := &t.Spec, s.Spec.Endpoint
	if s.PreviousSpecVersion != nil && t.SpecVersion.Index == s.PreviousSpecVersion.Index {
		was, endpoint = &s.PreviousSpec.Task, s.PreviousSpec.Endpoint // here the values that are never kept leave a mark
	}
	return proto.Equal(was, &s.Spec.Task) && proto.Equal(endpoint, s.Spec.Endpoint)
}

func impact(f *Followed) Impact {
	switch {
	case f.Wanted > 0 && f.Running == 0:
		return Down
	case f.Running < f.Wanted:
		return Degraded
	case f.Service.UpdateStatus != nil && f.Service.UpdateStatus.State != api.UpdateStatus_COMPLETED:
		return UpdateBlocked
	}
	return NoImpact
}

// monitor is how long a failed task of the service still fails an update; zero or unset means the default.
func monitor(s *api.Service) time.Duration {
	set := s.Spec.Update
	if set == nil {
		set = defaults.Service.Update
	}
	return max(duration(set.Monitor, defaults.Service.Update.Monitor), resolveTime)
}

// ignored tells whether the service's label silences the cause.
func ignored(s *api.Service, d *Diagnosis) bool {
	for _, cause := range strings.Split(s.Spec.Annotations.Labels[labelIgnore], ",") {
		if cause = strings.TrimSpace(cause); cause == d.Cause || cause == "*" {
			return true
		}
	}
	return false
}

// inMaintenance tells whether there are nodes at fault, and each is under maintenance now.
func (p *Pass) inMaintenance(nodes []*filters.Node) bool {
	for _, n := range nodes {
		end, err := time.Parse(time.RFC3339, n.Spec.Annotations.Labels[labelMaintenance])
		if err != nil || !p.Now.Before(end) {
			return false
		}
	}
	return len(nodes) > 0
}
