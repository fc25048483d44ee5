package exporter

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
	"github.com/swarmdiag/swarmdiag/collector/redact"
)

// mostSteps is how many steps of an update are listed.
const mostSteps = 10

// RedactOutcome returns a copy of the outcome whose free text is safe to show.
func RedactOutcome(o whatif.Outcome) whatif.Outcome {
	o.Diagnoses = redactEach(o.Diagnoses, redactDiagnosis)
	o.Unchecked = redactTexts(o.Unchecked)
	o.Services = redactEach(o.Services, func(s whatif.Service) whatif.Service {
		s.DockerWouldSay = redact.Text(s.DockerWouldSay)
		return s
	})
	return o
}

// Outcome writes for a person what a change would do. The outcome must have been redacted.
func Outcome(out io.Writer, o whatif.Outcome, colored bool) error {
	r := reporter{out: bufio.NewWriter(out), colored: colored}
	r.verdict(o)
	for i := range o.Services {
		r.service(&o.Services[i], o)
	}
	for _, w := range o.StillWaiting {
		r.line("would wait as before: %s of %s", tasks(w.Tasks), w.Service)
	}
	for _, d := range o.Displaced {
		r.line("would lose its place: %s of %s on %s (%s)", tasks(d.Tasks), d.Service, d.Node, d.Why)
	}
	for _, text := range o.Unchecked {
		r.line("not checked: %s", text)
	}
	return r.out.Flush()
}

func (r *reporter) verdict(o whatif.Outcome) {
	waiting, lost, ends, unaddressed, stopped := 0, 0, 0, 0, 0
	var nowhere []string
	for _, s := range o.Services {
		if s.Other {
			continue
		}
		waiting += s.Waiting
		lost += s.Lost
		ends += s.Ends
		unaddressed += s.Unaddressed
		if s.Nowhere {
			nowhere = append(nowhere, s.Name)
		}
		if s.Update.Stops() || s.Update != nil && s.Update.Capped {
			stopped++
		}
	}
	switch {
	case o.PlacesAll && len(o.Services) == 0:
		r.line("Nothing would change place.")
	case o.PlacesAll:
		r.line("Every task%s would be placed.", whose(o.About))
	case waiting == 0 && len(nowhere) > 0:
		r.line("No node would run%s.", strings.TrimPrefix(whose(nowhere), " of"))
	case waiting == 0 && lost > 0:
		r.line("%s%s would be lost: by their restart policy none follows.", capital(tasks(lost)), whose(o.About))
	case waiting == 0 && ends > 0:
		r.line("%s%s would end, and none would follow.", capital(tasks(ends)), whose(o.About))
	case waiting == 0 && unaddressed > 0:
		r.line("%s%s may get no address.", capital(tasks(unaddressed)), whose(o.About))
	case waiting == 0 && stopped > 0:
		r.line("The update was not followed to its end.")
	default:
		r.line("%s%s would not be placed.", capital(tasks(waiting)), whose(o.About))
	}
	r.line("")
}

// mostNamed is how many services the first line names.
const mostNamed = 3

// whose says which services a verdict is about; nothing where it is about all that a change of nodes concerns.
func whose(services []string) string {
	switch {
	case len(services) == 0:
		return ""
	case len(services) > mostNamed:
		return fmt.Sprintf(" of the %d services", len(services))
	}
	last := len(services) - 1
	if last == 0 {
		return " of " + services[0]
	}
	return " of " + strings.Join(services[:last], ", ") + " and " + services[last]
}

func tasks(n int) string { return plural(n, "task") }

func (r *reporter) service(s *whatif.Service, o whatif.Outcome) {
	state := ""
	switch {
	case s.Removed:
		state = "is removed, "
	case s.New:
		state = "is new, "
	case s.Other:
		state = "waits now, "
	}
	r.line("%s %s%d of %d would run", s.Name, state, s.Running, s.Wanted)
	if len(s.On) > 0 {
		r.counts(s)
	}
	if s.Update != nil {
		r.update(s.Update)
	}
	if s.Waiting > 0 {
		r.field("waiting", tasks(s.Waiting))
		r.field("docker says", s.DockerWouldSay)
	}
	if s.Lost > 0 {
		r.field("lost", tasks(s.Lost)+", of which the restart policy has no other follow")
	}
	if s.Ends > 0 {
		r.field("ends", tasks(s.Ends)+", on nodes that the constraints exclude")
	}
	if s.Unaddressed > 0 {
		r.field("addresses", tasks(s.Unaddressed)+" may get none: others on the network wait for the allocator now")
	}
	if s.Complete > 0 {
		r.field("complete", tasks(s.Complete)+", and none follows")
	}
	for _, d := range o.Diagnoses {
		if d.Service == s.Name {
			r.field("why", d.Summary)
			r.field("cause", strings.TrimSpace(d.Cause+" "+d.Shape))
			r.hints(&d)
		}
	}
	r.line("")
}

func (r *reporter) counts(s *whatif.Service) {
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  NODE\tTASKS\tBEFORE")
	for _, c := range s.On {
		fmt.Fprintf(table, "  %s\t%d\t%d\n", c.Node, c.Tasks, c.Before)
	}
	table.Flush()
}

func (r *reporter) update(u *whatif.Update) {
	r.field("update", fmt.Sprintf("%s with parallelism %d replaces %s", u.Order, u.Parallelism, tasks(u.Replaces)))
	for i, step := range u.Steps[:min(len(u.Steps), mostSteps)] {
		where := ""
		if len(step.On) > 0 {
			where = " on " + strings.Join(step.On, ", ")
		}
		r.field(fmt.Sprintf("step %d", i+1), fmt.Sprintf("%d begun, %d placed%s, %d left", step.Replaces, step.Placed, where, step.Left))
	}
	if more := len(u.Steps) - mostSteps; more > 0 {
		r.field("", fmt.Sprintf("and %d more steps", more))
	}
	switch {
	case u.Stops() && len(u.Needs) == 0:
		r.field("stops", fmt.Sprintf("the update would stop after %d of %d", u.Done, u.Replaces))
	case u.Stops():
		for _, n := range u.Needs {
			r.field("stops", fmt.Sprintf("%s with parallelism %d needs %s: the update would stop after %d of %d", u.Order, u.Parallelism, need(n), u.Done, u.Replaces))
		}
	case u.Capped:
		r.field("capped", fmt.Sprintf("looked at %d steps only: %d of %d were replaced by then", len(u.Steps), u.Done, u.Replaces))
	}
}

// need writes an inequality: "2 × 4GiB of memory beside 3 × 4GiB; free on node-2, the nearest: 3GiB".
func need(n whatif.Need) string {
	switch {
	case n.What == "replicas":
		return fmt.Sprintf("room for %d more beside %s, and at most %s makes %s in all",
			n.Tasks, tasks(n.Beside), n.Wanted, quantity(&n.Free, ""))
	case n.Each == 0:
		return strings.TrimSpace(fmt.Sprintf("%s %s for %s beside %d that run", n.What, n.Wanted, tasks(n.Tasks), n.Beside))
	}
	beside := fmt.Sprintf("%d that run", n.Beside)
	if n.BesideEach > 0 {
		beside = fmt.Sprintf("%d × %s", n.Beside, quantity(&n.BesideEach, n.Unit))
	}
	for _, held := range n.BesideAlso {
		beside += fmt.Sprintf(" and %d × %s", held.Tasks, quantity(&held.Each, n.Unit))
	}
	return fmt.Sprintf("%d × %s of %s beside %s; free on %s, the nearest: %s",
		n.Tasks, quantity(&n.Each, n.Unit), n.What, beside, n.Node, quantity(&n.Free, n.Unit))
}
