package analyzer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Waiting is tasks that are pending alike: of one service and spec, refused for the same reasons.
type Waiting struct {
	Pass    *Pass
	Service *api.Service // nil for a task that belongs to none: a container that attaches to a network
	// Replicas is how many tasks the service should have.
	Replicas int
	// Tasks are all that wait so, the longest waiting first.
	Tasks []*api.Task
	// Rows is the matrix; Wanted are the rows of the nodes that constraints, platform and plugins leave,
	// Eligible those of Wanted that are ready and active.
	Rows, Wanted, Eligible []filters.Row
	// Nearest is the eligible node that comes closest; nil where none is eligible.
	Nearest *filters.Row
	// Reasons are why no node takes the tasks: the first is the cause. None where a node would take them.
	Reasons []filters.Reason

	rule    *Rule // of the first reason; nil without one
	finding Finding
	also    []Also      // once it is asked for
	groups  []NodeGroup // of the rows, once they are asked for
}

// Task is the one that waits longest; the others are equal in all that filters look at.
func (w *Waiting) Task() *api.Task { return w.Tasks[0] }

// decide fills in what follows from the matrix.
func (w *Waiting) decide() {
	wanted, none, isNone := filters.Wanted(w.Rows)
	w.Wanted = wanted
	if isNone {
		w.Reasons = []filters.Reason{{Filter: none}}
		return
	}
	w.Eligible = filters.Without(w.Wanted, filters.Ready)
	if len(w.Eligible) == 0 {
		if len(w.Rows) > 0 {
			w.Reasons = []filters.Reason{{Filter: filters.Ready}}
		}
		return
	}
	nearest := w.nearest()
	w.Nearest = &nearest
	if nearest.Verdicts[filters.Volumes] == filters.Unknown && strings.Contains(w.Task().Status.Err, csiRefusal) {
		w.Reasons = append(w.Reasons, filters.Reason{Filter: filters.Volumes})
	}
	for _, filter := range nearest.Verdicts.Fails() {
		if filter != filters.Resources {
			w.Reasons = append(w.Reasons, filters.Reason{Filter: filter})
			continue
		}
		for _, what := range w.shortest(nearest) {
			w.Reasons = append(w.Reasons, filters.Reason{Filter: filter, What: what})
		}
	}
}

// csiRefusal begins the words of swarmkit's filter of cluster volumes (manager/scheduler.VolumesFilter.Explain).
const csiRefusal = "cannot fulfill requested CSI volume mounts"

// compare orders eligible nodes by how close they come: the fewest failing filters, the least relative shortage,
// the most of the short resource in all, the name.
func (w *Waiting) compare(a, b filters.Row) int {
	return w.distance(a).compare(w.distance(b))
}

// distance is how far a node is from taking the task.
type distance struct {
	row   filters.Row
	fails int
	// share is the largest share of what is asked that the node lacks, and of which resource; a filter that cannot be
	// measured counts as lacking all.
	share float64
	what  string
}

func (w *Waiting) distance(row filters.Row) distance {
	d := distance{row: row, fails: row.Verdicts.Count(filters.Fail)}
	if d.fails > 1 || d.fails == 1 && row.Verdicts[filters.Resources] != filters.Fail {
		d.share = 1
	}
	if what, share := row.Shortest(w.Task()); share > d.share {
		d.share, d.what = share, what
	}
	return d
}

func (d distance) compare(other distance) int {
	if c := cmp.Or(cmp.Compare(d.fails, other.fails), cmp.Compare(d.share, other.share)); c != 0 {
		return c
	}
	if d.what != "" && d.what == other.what {
		if c := cmp.Compare(other.row.Node.Total(d.what), d.row.Node.Total(d.what)); c != 0 {
			return c
		}
	}
	return cmp.Compare(d.row.Node.Name, other.row.Node.Name)
}

// nearest is the eligible node that comes closest.
func (w *Waiting) nearest() filters.Row {
	best := w.distance(w.Eligible[0])
	for _, row := range w.Eligible[1:] {
		if row.Verdicts.Count(filters.Fail) > best.fails { // without measuring how far
			continue
		}
		if d := w.distance(row); d.compare(best) < 0 {
			best = d
		}
	}
	return best.row
}

// relative is the share of what is asked that is short; all of it where nothing is asked and swarmkit refuses still.
func relative(short, asked map[string]float64, what string) float64 {
	if asked[what] == 0 || short[what] == 0 {
		return 1
	}
	return short[what] / asked[what]
}

// shortest returns the resources that are short on the node, the largest relative shortage first.
func (w *Waiting) shortest(row filters.Row) []string {
	short, asked := row.Short(w.Task()), filters.Asked(w.Task())
	return slices.SortedFunc(maps.Keys(short), func(a, b string) int {
		if d := cmp.Compare(relative(short, asked, b), relative(short, asked, a)); d != 0 {
			return d
		}
		return cmp.Compare(a, b)
	})
}

// serviceRef is how a docker command names the service, quoted for a shell.
func (w *Waiting) serviceRef() string { return quote(serviceName(w.Pass, w.Task())) }
