package exporter

import (
	"slices"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector/redact"
)

// Redact returns a copy of the result whose free text is safe to show. Names and ids stay: objects are found by them.
func Redact(result analyzer.Result) analyzer.Result {
	result.Incidents = redactEach(result.Incidents, redactIncident)
	result.Diagnoses = redactEach(result.Diagnoses, redactDiagnosis)
	result.Ignored = redactEach(result.Ignored, redactDiagnosis)
	result.Unjudged = redactEach(result.Unjudged, redactDiagnosis)
	result.Blind = redactTexts(result.Blind)
	return result
}

func redactDiagnosis(d analyzer.Diagnosis) analyzer.Diagnosis {
	d.Waiting = nil // not for showing
	d.Summary = redact.Text(d.Summary)
	d.DockerSays = redact.Text(d.DockerSays)
	d.Evidence = redactEach(d.Evidence, redactEvidence)
	d.Also = redactEach(d.Also, func(a analyzer.Also) analyzer.Also {
		a.Evidence = redactEach(a.Evidence, redactEvidence)
		return a
	})
	d.Check = redactEach(d.Check, func(c analyzer.Check) analyzer.Check {
		return analyzer.Check{Command: redact.Text(c.Command), Shows: redact.Text(c.Shows)}
	})
	if d.LastChange != nil {
		d.LastChange = &analyzer.LastChange{At: d.LastChange.At, What: redactTexts(d.LastChange.What)}
	}
	d.Nodes = redactEach(d.Nodes, func(g analyzer.NodeGroup) analyzer.NodeGroup {
		g.Why = redactTexts(g.Why)
		return g
	})
	d.Remedies = redactEach(d.Remedies, redactRemedy)
	d.RemedyNotes = redactTexts(d.RemedyNotes)
	d.Blind = redactTexts(d.Blind)
	return d
}

// redactIncident leaves the names of objects; a constraint is text that somebody wrote.
func redactIncident(i analyzer.Incident) analyzer.Incident {
	i.Summary, i.Remedy = redact.Text(i.Summary), redact.Text(i.Remedy)
	if i.Subject.Kind == analyzer.ConstraintSubject {
		i.Subject.Name = redact.Text(i.Subject.Name)
	}
	return i
}

func redactRemedy(r analyzer.Remedy) analyzer.Remedy {
	r.Command, r.Note = redact.Text(r.Command), redact.Text(r.Note)
	if r.Compose != nil {
		r.Compose = &analyzer.Compose{Path: redact.Text(r.Compose.Path), Value: redact.Text(r.Compose.Value)}
	}
	return r
}

func redactEvidence(e analyzer.Evidence) analyzer.Evidence {
	e.Wanted = redact.Text(e.Wanted)
	e.Hint = redact.Text(e.Hint)
	e.Found = redactEach(e.Found, func(f analyzer.Found) analyzer.Found {
		f.Value = redact.Text(f.Value)
		return f
	})
	return e
}

func redactTexts(texts []string) []string { return redactEach(texts, redact.Text) }

// redactEach returns a redacted copy; nil stays nil, so that what is absent stays absent.
func redactEach[T any](values []T, one func(T) T) []T {
	redacted := slices.Clone(values)
	for i, v := range redacted {
		redacted[i] = one(v)
	}
	return redacted
}
