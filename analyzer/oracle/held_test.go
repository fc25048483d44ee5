package oracle_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/oracle"
	"github.com/swarmdiag/swarmdiag/collector"
)

// held counts what was held against swarmkit's scheduler.
type held struct {
	ctx         context.Context
	clusters    int
	pairs       uint64
	differences int
	// outcomes are the pairs by what became of them, and the pending tasks of whole clusters.
	outcomes map[string]int
}

// differ ends a check. Rapid then draws smaller clusters: what is counted from here on is no new ground.
func (h *held) differ(t *rapid.T, format string, args ...any) {
	h.differences = 1
	t.Fatalf(format, args...)
}

func (h *held) count(outcome string) {
	if h.differences == 0 {
		h.outcomes[outcome]++
	}
}

// verdicts compares our verdict on each pending task and each node with swarmkit's. Each pair is a copy of the task that is
// preassigned to the node. Copies that no node takes do not influence each other, and neither do copies on different nodes:
// the first run holds those that we say are refused, each of the others one on each node of those that we say fit.
func (h *held) verdicts(t *rapid.T, c *oracle.Cluster, swarmkit *oracle.Scheduler) {
	judge := filters.NewCluster(state(t, c))
	runs, fitting := [][]*api.Task{nil}, map[string]int{}
	for _, task := range differentPending(c) {
		for _, n := range c.Nodes {
			copied, run := preassigned(task, n), 0
			if judge.Judge(copied)[0].Passes() {
				fitting[n.ID]++
				run = fitting[n.ID]
			}
			if run == len(runs) {
				runs = append(runs, nil)
			}
			runs[run] = append(runs[run], copied)
		}
	}
	for _, copies := range runs {
		decided := h.place(t, swarmkit, copies)
		for _, copied := range copies {
			h.pair(t, judge, copied, decided[copied.ID])
		}
	}
}

// pair compares the verdict on a preassigned copy, and on one that could go anywhere: of that one swarmkit does not ask
// whether there is a volume for every mount.
func (h *held) pair(t *rapid.T, judge *filters.Cluster, copied, decided *api.Task) {
	if h.differences == 0 {
		h.pairs++
	}
	want, got := judge.Sentence(copied, judge.Judge(copied)), decided.Status.Err
	if got != want || (want == "") != (decided.Status.State == api.TaskStateAssigned) {
		h.differ(t, "%s: swarmkit says %q in state %s, we say %q\n%v", copied.ID, got, decided.Status.State, want, copied)
	}
	free := *copied
	free.NodeID = ""
	rows := slices.DeleteFunc(judge.Judge(&free), func(r filters.Row) bool { return r.Node.ID != copied.NodeID })
	want = judge.Sentence(&free, rows)
	switch {
	case strings.HasPrefix(got, "cannot find volume to satisfy mount"):
		got = ""
		h.count("a volume is missing")
	case got != "":
		h.count(strings.TrimSuffix(got, " on 1 node"))
		got = fmt.Sprintf("no suitable node (%s)", got)
	default:
		h.count("fits")
	}
	if got != want {
		h.differ(t, "%s, were it not preassigned: swarmkit says %q, we say %q\n%v", copied.ID, got, want, copied)
	}
}

// wholeCluster compares what swarmkit says of every pending task, once it has placed what it can, with what we say of the
// cluster as it is then. What it placed must have fit before.
func (h *held) wholeCluster(t *rapid.T, c *oracle.Cluster, swarmkit *oracle.Scheduler) {
	decided := h.place(t, swarmkit, c.Pending())
	before := filters.NewCluster(state(t, c))
	settled := state(t, c.With(decided))
	after := filters.NewCluster(settled)
	for _, task := range c.Pending() {
		now := decided[task.ID]
		switch rows := after.Judge(now); {
		case now.Status.State == api.TaskStateAssigned:
			h.count("(placed)")
			on := slices.DeleteFunc(before.Judge(task), func(r filters.Row) bool { return r.Node.ID != now.NodeID })
			if len(on) != 1 || !on[0].Passes() {
				h.differ(t, "%s: swarmkit places it on %s, we say %v\n%v", task.ID, now.NodeID, before.Sentence(task, on), task)
			}
		case !after.Answers(now, settled.Service(now.ServiceID)):
			h.count("(passed over)")
			if now.Status.Err != task.Status.Err {
				h.differ(t, "%s: swarmkit says %q, we say that it says nothing\n%v", task.ID, now.Status.Err, task)
			}
			if now.DesiredState <= api.TaskStateCompleted && slices.ContainsFunc(rows, filters.Row.Passes) {
				h.differ(t, "%s: swarmkit does not place it, we say that it fits\n%v", task.ID, task)
			}
		default:
			h.count("(answered)")
			if want := after.Sentence(now, rows); now.Status.Err != want {
				h.differ(t, "%s: swarmkit says %q, we say %q\n%v", task.ID, now.Status.Err, want, task)
			}
		}
	}
}

func (h *held) place(t *rapid.T, swarmkit *oracle.Scheduler, tasks []*api.Task) map[string]*api.Task {
	decided, err := swarmkit.Place(h.ctx, tasks)
	if err != nil {
		t.Fatal(err)
	}
	return decided
}

func state(t *rapid.T, c *oracle.Cluster) *collector.State {
	s, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// differentPending returns one of the pending tasks of each service and spec.
func differentPending(c *oracle.Cluster) []*api.Task {
	type spec struct {
		service string
		version api.Version
	}
	seen := map[spec]bool{}
	var different []*api.Task
	for _, t := range c.Pending() {
		key := spec{service: t.ServiceID}
		if t.SpecVersion != nil {
			key.version = *t.SpecVersion
		}
		if !seen[key] || t.ServiceID == "" {
			different = append(different, t)
		}
		seen[key] = true
	}
	return different
}

// preassigned returns the task as if an orchestrator had put it on the node, to run.
func preassigned(task *api.Task, n *api.Node) *api.Task {
	copied := *task
	copied.ID, copied.NodeID = task.ID+" on "+n.ID, n.ID
	copied.DesiredState, copied.Status.Err = api.TaskStateRunning, ""
	return &copied
}
