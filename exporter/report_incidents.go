package exporter

import "github.com/swarmdiag/swarmdiag/analyzer"

// incidents writes what is behind several diagnoses, before these: a line each, and what helps all of them.
func (r *reporter) incidents(incidents []analyzer.Incident) {
	for _, i := range incidents {
		r.line("%s", i.Summary)
		if i.Remedy != "" {
			r.field("remedy", "$ "+i.Remedy)
		}
	}
	if len(incidents) > 0 {
		r.line("")
	}
}
