package analyzer

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
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
	d.Summary = d.Service + ": " + finding.Summary
	if d.Impact == Down {
		d.Summary = d.Service + " is down: " + finding.Summary
	}
	d.ID = identify(&d, isCurrent(s, first.Task))
	p.doubt(rule, &d)
	return d
}

// doubt lowers the confidence where the source hides a field that the rule infers.
func (p *Pass) doubt(rule *Rule, d *Diagnosis) {
	for _, field := range rule.Infers {
		i := slices.IndexFunc(p.State.Hides, func(g collector.Gap) bool { return g.What == field })
		if i >= 0 {
			d.Confidence = Likely
			d.Blind = append(d.Blind, field+": "+p.State.Hides[i].Why)
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

// isCurrent tells whether the task has today's spec of the service; a missing task is one of today's.
func isCurrent(s *api.Service, t *api.Task) bool {
	return t == nil || s.SpecVersion == nil || t.SpecVersion == nil || t.SpecVersion.Index == s.SpecVersion.Index
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
