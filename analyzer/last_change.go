package analyzer

import (
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"

	"github.com/swarmdiag/swarmdiag/collector"
)

// ChangeOf tells what the last update of the service changed; nil where it was never updated.
func ChangeOf(s *api.Service) *LastChange {
	if s.PreviousSpec == nil {
		return nil
	}
	change := &LastChange{At: at(s.Meta.UpdatedAt), What: changes(s.PreviousSpec, &s.Spec)}
	if u := s.UpdateStatus; u != nil && u.StartedAt != nil {
		change.At = at(u.StartedAt)
	}
	if len(change.What) == 0 {
		change.What = []string{"something that swarmdiag does not keep, such as a label, a secret or a config"}
	}
	return change
}

// changes tells how two specs differ, with unset fields as swarmkit's defaults: docker service inspect shows these in a
// current spec, and not in a previous one.
func changes(before, now *api.ServiceSpec) []string {
	old, current := traits(defaults.InterpolateService(before)), traits(defaults.InterpolateService(now))
	var what []string
	for _, t := range current {
		was, had := valueOf(old, t.name)
		switch {
		case !had:
			what = append(what, t.name+" added"+inBrackets(t.value))
		case was == collector.Differs || t.value == collector.Differs:
			what = append(what, t.name+" changed")
		case was != t.value:
			what = append(what, t.name+" "+was+" -> "+t.value)
		}
	}
	for _, t := range old {
		if _, has := valueOf(current, t.name); !has {
			what = append(what, t.name+" removed")
		}
	}
	return what
}

func valueOf(traits []trait, name string) (value string, has bool) {
	for _, t := range traits {
		if t.name == name {
			return t.value, true
		}
	}
	return "", false
}

func inBrackets(value string) string {
	if value == "" || value == collector.Differs {
		return ""
	}
	return " (" + value + ")"
}
