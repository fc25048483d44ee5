package remedy

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// tester is what fails: a test, or one of the states of a property.
type tester interface {
	Fatalf(format string, args ...any)
}

func TestCauseAndRemedyAgreeInEveryCase(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../testdata/*/*/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d cases: %v", len(names), err)
	}
	looked := 0
	for _, name := range names {
		state, now := analyzertest.State(t, name)
		for _, d := range analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true}).Diagnoses {
			looked += agree(t, name, state, &d)
		}
	}
	if looked < 40 {
		t.Errorf("only %d diagnoses were looked at", looked)
	}
}

func TestCauseAndRemedyAgreeInRandomStates(t *testing.T) {
	t.Parallel()
	looked := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for _, s := range c.services {
			constrain(t, s)
		}
		c.preassign(rapid.IntRange(0, 3).Draw(t, "global") == 0)
		state := stateOfRapid(t, c.objects())
		for _, d := range analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true}).Diagnoses {
			looked += agree(t, c.String(), state, &d)
		}
	})
	t.Logf("%d diagnoses", looked)
}

// preassign gives the pending tasks the specs that their services have now, and makes the first of these global if it is to
// be so: only tasks of global services are preassigned, one on each node.
func (c *cluster) preassign(isGlobal bool) {
	if isGlobal {
		global(&c.services[0].Spec)
		c.services[0].Spec.Task.Placement.MaxReplicas = 0
	}
	var kept []*api.Task
	for _, task := range c.pending {
		s := c.service(task.ServiceID)
		task.Spec, task.NodeID = s.Spec.Task, ""
		if s.Spec.GetGlobal() != nil {
			task.Slot, task.NodeID = 0, c.nodes[len(kept)%len(c.nodes)].ID
		}
		if s.Spec.GetGlobal() == nil || len(kept) < len(c.nodes) {
			kept = append(kept, task)
		}
	}
	c.pending = kept
}

func (c *cluster) service(id string) *api.Service {
	return c.services[slices.IndexFunc(c.services, func(s *api.Service) bool { return s.ID == id })]
}

func constrain(t *rapid.T, s *api.Service) {
	constrained(pick(t, "constraints", nil, nil, []string{"node.labels.rack==a"}, []string{"node.labels.rack==c"}, []string{"node.labels.Zone==x"},
		[]string{"node.labels.zone==x", "node.role==worker"}, []string{"node.hostname==node-9"}, []string{"node.labels.zone!=x"})...)(&s.Spec)
}

// agree holds the cause that the matrix gave against the changes that follow from it. Where a node has one reason to
// refuse, a change against it makes swarmkit's scheduler place a task; where each of up to three has one, some changes do
// together. It returns how many diagnoses that were.
func agree(t tester, name string, state *collector.State, d *analyzer.Diagnosis) int {
	if len(d.Waiting) == 0 || d.Confidence != analyzer.Certain {
		return 0
	}
	tr := newTrial(state, d)
	s := newSubject(state, tr.cluster, d)
	if len(s.groups) == 0 || len(s.groups[0].reasons) == 0 {
		return 0 // nothing but the scheduler itself refuses
	}
	solvable := false
	for _, g := range s.groups {
		if s.stale || contradicts(g) || len(g.reasons) == 0 || len(g.reasons) > largestSet {
			continue
		}
		solvable = solvable || slices.ContainsFunc(g.nearest(), func(row filters.Row) bool {
			var set []proposal
			for _, r := range g.reasons {
				fixes := provable(s.fixes(g.only(row), r))
				if len(fixes) == 0 {
					return false
				}
				set = append(set, fixes[0])
			}
			return !contested(t, tr, set...) && gains(t, tr, combine(set))
		})
		if len(g.reasons) > 1 {
			continue
		}
		for _, p := range provable(s.fixes(g, g.reasons[0])) {
			r, err := tr.prove(context.Background(), p)
			if err != nil || !r.Verified && !leadsElsewhere(g, d) && !contested(t, tr, p) {
				t.Fatalf("%s: %s: nodes refuse for %v only, and with %s the scheduler places nothing (%v)", name, d.Cause, g.reasons, r.Command, err)
			}
		}
	}
	found, err := Find(context.Background(), state, d)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if works := slices.ContainsFunc(found.Remedies, func(r analyzer.Remedy) bool { return r.Verified }); solvable && !works {
		t.Fatalf("%s: %s: each reason of some nodes can be taken away, and no change or set of changes was found to work: %s", name, d.Cause, d.Summary)
	}
	return 1
}

// contested tells whether other global services get tasks where changes make room, so that it may be theirs.
func contested(t tester, tr *trial, changes ...proposal) bool {
	draft := NewDraft(tr.state, tr.waiting)
	for _, p := range changes {
		p.change(draft)
	}
	state, err := draft.State()
	if err != nil {
		t.Fatalf("%v", err)
	}
	draft.spread(tr.subject, state)
	return len(draft.rivals(&Outcome{state: state})) > 0
}

// gains tells whether more tasks of the service would run after a change than do now, once those have restarted too that it
// makes anew.
func gains(t tester, tr *trial, p proposal) bool {
	draft := NewDraft(tr.state, tr.waiting)
	p.change(draft)
	replaced := draft.Replaced(tr.subject)
	for _, task := range replaced {
		draft.Stop(task)
		made := draft.made(draft.service(tr.subject), task)
		made.ID = "again " + task.ID
		draft.Waiting = append(draft.Waiting, made)
	}
	outcome, err := draft.Place(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return len(outcome.On) > len(replaced)
}

func provable(proposals []proposal) []proposal {
	return slices.DeleteFunc(proposals, func(p proposal) bool { return p.change == nil })
}

// contradicts tells whether what a label would mend another constraint forbids.
func contradicts(g *group) bool {
	p := g.waiting.Task().Spec.Placement
	if p == nil {
		return false
	}
	expressions, err := constraints.Parse(p.Constraints)
	return err == nil && len(constraints.Explain(expressions, constraints.NewTable(nil)).Contradictions) > 0
}

// leadsElsewhere tells whether the constraint that is corrected is met by nodes that other constraints leave out.
func leadsElsewhere(g *group, d *analyzer.Diagnosis) bool {
	return g.reasons[0].Filter == filters.Constraints && len(d.Waiting[0].Task().Spec.Placement.Constraints) > 1
}
