package exporter

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/swarmdiag/swarmdiag/analyzer/capacity"
	"github.com/swarmdiag/swarmdiag/collector/redact"
)

// mostRanked is how many changes a ranking for a person shows.
const mostRanked = 5

// RankingText writes what would help most of what is stuck; nothing where fewer than two services are, or nothing helps.
func RankingText(out io.Writer, ranking capacity.Ranking) error {
	if ranking.Services < 2 || len(ranking.Changes) == 0 && !ranking.Ended {
		return nil
	}
	w := bufio.NewWriter(out)
	rankingText(w, ranking)
	return w.Flush()
}

func rankingText(w *bufio.Writer, ranking capacity.Ranking) {
	fmt.Fprintf(w, "What would help most (stuck: %s of %s), each tried on a copy:\n",
		plural(ranking.Tasks, "task"), plural(ranking.Services, "service"))
	for _, c := range ranking.Changes[:min(len(ranking.Changes), mostRanked)] {
		fmt.Fprintf(w, "  %s: %s, %s\n", redact.Text(c.What), plural(c.Services, "service"), plural(c.Tasks, "task"))
		if c.Command != "" {
			where := ""
			if c.At != "" {
				where = fmt.Sprintf("  (on %s)", c.At)
			}
			fmt.Fprintf(w, "    $ %s%s\n", redact.Text(c.Command), where)
		}
		if c.Note != "" {
			fmt.Fprintf(w, "    %s\n", c.Note)
		}
	}
	if len(ranking.Changes) == 0 {
		fmt.Fprintln(w, "  no single change of a node that was tried")
	}
	if ranking.Ended {
		fmt.Fprintln(w, "  the time was up before all changes had been tried")
	}
}

// CapacityText writes how much is stuck, what would place it and what of it no new node would, and what still fits.
func CapacityText(out io.Writer, report capacity.Report) error {
	w := bufio.NewWriter(out)
	if report.Services == 0 {
		fmt.Fprintln(w, "Nothing waits for a node.")
	} else {
		rankingText(w, report.Ranking)
	}
	fmt.Fprintln(w)
	if err := neededTable(w, report.Needed); err != nil {
		return err
	}
	refusals(w, report.Needed)
	if n := report.Needed; len(n) > 0 && report.Tasks > n[0].Waiting {
		fmt.Fprintln(w, fitting(report.Tasks, report.Tasks-n[0].Waiting))
	}
	fmt.Fprintln(w)
	if err := headroomTable(w, report.Headroom); err != nil {
		return err
	}
	for _, sentence := range report.Bounded {
		fmt.Fprintln(w, sentence)
	}
	return w.Flush()
}

// fitting tells how many of the tasks that are stuck a node would take now.
func fitting(stuck, fit int) string {
	are, fits := "are", "fit"
	if stuck == 1 {
		are = "is"
	}
	if fit == 1 {
		fits = "fits"
	}
	return fmt.Sprintf("Of the %s that %s stuck, %d %s as things are.", plural(stuck, "task"), are, fit, fits)
}

func neededTable(out io.Writer, needs []capacity.Need) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MORE WORKERS LIKE\tNEEDED\tPLACE")
	for _, n := range needs {
		needed := fmt.Sprint(n.Nodes)
		switch {
		case n.Waiting > 0 && n.Places == 0:
			needed = "no number does"
		case n.Unproven != "":
			needed += " (" + n.Unproven + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%d of %s\n", n.Like, needed, n.Places, plural(n.Waiting, "task"))
	}
	return table.Flush()
}

// refusals writes what no number of nodes places and why, once for kinds of nodes of which the same is true.
func refusals(w *bufio.Writer, needs []capacity.Need) {
	same := func(n capacity.Need) func(capacity.Need) bool {
		return func(other capacity.Need) bool { return reflect.DeepEqual(n.Refused, other.Refused) }
	}
	for i, n := range needs {
		if len(n.Refused) == 0 || slices.ContainsFunc(needs[:i], same(n)) {
			continue
		}
		like := []string{n.Like}
		for _, other := range needs[i+1:] {
			if same(n)(other) {
				like = append(like, other.Like)
			}
		}
		fmt.Fprintf(w, "No number of workers like %s places %s:\n", strings.Join(like, " or "), plural(n.Waiting-n.Places, "task"))
		for _, r := range n.Refused {
			fmt.Fprintf(w, "  %s because of %s: %s\n", plural(r.Tasks, "task"), r.Why, some(r.Services))
		}
	}
}

func headroomTable(out io.Writer, headroom []capacity.Headroom) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVICE\tMORE REPLICAS THAT FIT NOW\tPROVEN")
	for _, h := range headroom {
		fit, proven := fmt.Sprint(h.Replicas), "by the scheduler"
		if h.AtLeast {
			fit += " or more"
		}
		if !h.Proven {
			proven = "no, counted"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", h.Service, fit, proven)
	}
	return table.Flush()
}

// RedactCapacity returns a copy of a report whose free text is safe to show.
func RedactCapacity(report capacity.Report) capacity.Report {
	report.Changes = redactEach(report.Changes, func(c capacity.Change) capacity.Change {
		c.What, c.Command = redact.Text(c.What), redact.Text(c.Command)
		return c
	})
	return report
}
