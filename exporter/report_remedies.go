package exporter

import (
	"fmt"
	"strings"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// remedies writes the first remedy, or with wide all of them: the command, and what it was seen to do in a copy.
func (r *reporter) remedies(d *analyzer.Diagnosis) {
	if d.Remedies != nil && len(d.Remedies) == 0 && len(d.Nodes) > 0 {
		r.field("remedy", "none is known that would place it; what can be done: swarmdiag causes "+d.Cause)
	}
	shown := d.Remedies
	if !r.wide {
		shown = shown[:min(len(shown), 1)]
	}
	for _, remedy := range shown {
		where := ""
		if remedy.At != "" {
			where = fmt.Sprintf("  (on %s)", remedy.At)
		}
		r.field("remedy", "$ "+remedy.Command+where)
		r.field("", effect(remedy, d.Tasks))
		if c := remedy.Compose; c != nil {
			r.field("", fmt.Sprintf("in the stack's file: %s: %s", c.Path, c.Value))
		}
		r.field("", remedy.Note)
	}
	if more := len(d.Remedies) - len(shown); more > 0 {
		r.field("", fmt.Sprintf("and %d more with --format wide", more))
	}
	for _, note := range d.RemedyNotes {
		r.field("remedy", note)
	}
}

// effect tells what a remedy does for so many waiting tasks.
func effect(r analyzer.Remedy, waiting int) string {
	var parts []string
	if r.Verified {
		placed := fmt.Sprintf("proven on a copy: places %d", r.Places)
		if waiting > r.Places {
			placed += fmt.Sprintf(" of %d", waiting)
		}
		if len(r.On) > 0 {
			placed += " on "
			if r.Places < len(r.On) {
				placed += "any of "
			}
			placed += some(r.On)
		}
		parts = append(parts, placed)
	} else {
		parts = append(parts, "not proven")
	}
	words := map[analyzer.Risk]string{
		analyzer.NoRisk: "no running task changes", analyzer.Outage: "fewer than wanted run meanwhile",
		analyzer.DataRisk: "a task may run twice, or lose a volume",
	}
	if risk := words[r.Risk]; risk != "" {
		parts = append(parts, risk)
	}
	if r.Restarts > 0 {
		parts = append(parts, fmt.Sprintf("restarts %d running", r.Restarts))
	}
	return strings.Join(parts, "; ")
}
