package exporter

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// Report writes a result for a person: what is behind several diagnoses, each of these as a block that begins with its summary, then what is said of what is
// well. wide adds the evidence, the matrix and every check. The result must have been redacted.
func Report(out io.Writer, result analyzer.Result, well []Well, wide, colored bool) error {
	r := reporter{out: bufio.NewWriter(out), wide: wide, colored: colored}
	r.incidents(result.Incidents)
	for i := range result.Diagnoses {
		r.diagnosis(&result.Diagnoses[i])
	}
	for _, one := range well {
		for _, line := range one.lines() {
			r.line("%s", line)
		}
	}
	if len(result.Diagnoses)+len(well) == 0 {
		r.line("%s Nodes: %d.", nothing(result), result.Cluster.Nodes)
	}
	if n := len(result.Ignored); n > 0 {
		r.line("%d more silenced by a label:", n)
		for _, d := range result.Ignored {
			r.line("  %s", d.Summary)
		}
	}
	for _, blind := range result.Blind {
		r.line("not seen: %s", blind)
	}
	return r.out.Flush()
}

// nothing says that nothing is stuck, as far as that was seen.
func nothing(result analyzer.Result) string {
	switch {
	case len(result.Blind) > 0:
		return "No stuck service among what was seen."
	case len(result.Ignored) > 0:
		return "Nothing is stuck that no label silences."
	}
	return "Nothing is stuck."
}

// clock is how times are written for a person.
const clock = "2006-01-02 15:04:05 UTC"

type reporter struct {
	out           *bufio.Writer
	wide, colored bool
}

func (r *reporter) line(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

// field writes a named value of a block; one without text is left out.
func (r *reporter) field(name, text string) {
	if text != "" {
		r.line("  %-12s %s", name, text)
	}
}

func (r *reporter) diagnosis(d *analyzer.Diagnosis) {
	r.line("%s", r.paint(d.Severity, d.Summary))
	cause := d.Cause
	if d.Shape != "" {
		cause += " (" + d.Shape + ")"
	}
	r.field("cause", fmt.Sprintf("%s, held by the %s, %s", cause, d.Component, d.Severity))
	held := fmt.Sprintf("%d %s", d.Tasks, d.State)
	if d.Tasks == 0 {
		held = "none exists"
	}
	r.field("tasks", fmt.Sprintf("%s since %s, %d of %d running", held, d.Since.UTC().Format(clock), d.Running, d.Wanted))
	r.field("docker says", d.DockerSays)
	for _, also := range d.Also {
		r.field("also", strings.TrimSpace(also.Cause+" "+also.Shape))
	}
	if c := d.LastChange; c != nil {
		r.field("changed", fmt.Sprintf("%s: %s", c.At.UTC().Format(clock), strings.Join(c.What, "; ")))
	}
	if r.wide {
		r.evidence(d)
		r.matrix(d)
	} else {
		r.hints(d)
		r.holders(d)
	}
	for _, check := range d.Check {
		r.field("check", "$ "+check.Command)
		for line := range strings.Lines(check.Shows) {
			r.field("", strings.TrimSuffix(line, "\n"))
		}
		if !r.wide {
			break
		}
	}
	r.remedies(d)
	if d.HealsItself != "" && d.HealsItself != "no" {
		r.field("heals itself", d.HealsItself)
	}
	if d.Confidence != analyzer.Certain {
		r.field("confidence", string(d.Confidence))
	}
	for _, blind := range d.Blind {
		r.field("not seen", blind)
	}
	r.line("")
}

// matrix writes the verdicts as a table: a row a group of nodes, a column a filter.
func (r *reporter) matrix(d *analyzer.Diagnosis) {
	if len(d.Nodes) == 0 {
		return
	}
	filters := filterNames()
	table := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  NODES\t"+strings.ToUpper(strings.Join(filters, "\t")))
	for _, group := range d.Nodes {
		row := []string{"  " + strings.Join(group.Names[:min(len(group.Names), mostNames)], " ")}
		if more := len(group.Names) - mostNames; more > 0 {
			row[0] += fmt.Sprintf(" +%d", more)
		}
		for _, filter := range filters {
			row = append(row, group.Verdicts[filter])
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	table.Flush()
	for _, group := range d.Nodes {
		for _, why := range group.Why {
			r.field("", why)
		}
	}
}

// paint colours the first line of a block by its severity.
func (r *reporter) paint(severity analyzer.Severity, text string) string {
	colors := map[analyzer.Severity]string{analyzer.Critical: "\x1b[31m", analyzer.Warning: "\x1b[33m"}
	if color := colors[severity]; r.colored && color != "" {
		return color + text + "\x1b[0m"
	}
	return text
}

// CauseList writes one line a cause.
func CauseList(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tCAUSE\tMEANS")
	for _, rule := range analyzer.Rules() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", rule.Component, rule.Cause, rule.Title)
	}
	return table.Flush()
}

// CauseText explains one cause.
func CauseText(out io.Writer, rule *analyzer.Rule) error {
	_, err := fmt.Fprintf(out, "%s (%s)\n%s\n%s\n%s\n", rule.Cause, rule.Component, capital(rule.Title)+".", shapes(rule), rule.Doc)
	return err
}

// CauseManual writes the catalogue as Markdown.
func CauseManual(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, "# Causes")
	fmt.Fprintln(w, "\nEvery cause that swarmdiag names. `swarmdiag causes --markdown` prints this page.")
	component := analyzer.Component("")
	for _, rule := range analyzer.Rules() {
		if rule.Component != component {
			component = rule.Component
			fmt.Fprintf(w, "\n## %s\n", component)
		}
		fmt.Fprintf(w, "\n### %s\n\n%s.\n", rule.Cause, capital(rule.Title))
		if s := shapes(rule); s != "" {
			fmt.Fprintf(w, "\n%s", s)
		}
		fmt.Fprintf(w, "\n%s\n", rule.Doc)
	}
	return w.Flush()
}

func shapes(rule *analyzer.Rule) string {
	if len(rule.Shapes) == 0 {
		return ""
	}
	return "Shapes: " + strings.Join(slices.Clone(rule.Shapes), ", ") + ".\n"
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
