package remedy

import (
	"slices"
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

func perNode(most uint64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Placement.MaxReplicas = most }
}

func TestWhatANodeIsTooSmallForOnceItIsOpenIsMadeToFit(t *testing.T) {
	t.Parallel()
	var (
		prod   = service("web", 3, reserves(10*gib, 0), constrained("node.labels.env==prod"))
		two    = service("web", 3, reserves(10*gib, 3*core), constrained("node.labels.env==prod"))
		single = service("web", 3, constrained("node.labels.env==prod"), perNode(1))
	)
	check(t, "placement-constraint", []example{
		{
			"a label opens a node that has room for one of three",
			list(node(1, memoryOf(16*gib)), prod, waiting(prod, 1, 3)),
			[]string{
				"docker node update --label-add 'env=prod' node-1 && docker service update --reserve-memory 5GiB web | 3 on node-1 | none",
				"docker node update --label-add 'env=prod' node-1 | 1 on node-1 | none",
			},
		},
		{
			"memory and cores are both too much for three",
			list(node(1, memoryOf(16*gib)), two, waiting(two, 1, 3)),
			[]string{
				"docker node update --label-add 'env=prod' node-1 && docker service update --reserve-cpu 1.3 --reserve-memory 5GiB web | 3 on node-1 | none",
				"docker node update --label-add 'env=prod' node-1 | 1 on node-1 | none",
			},
		},
		{
			"the limit of replicas leaves room for one",
			list(node(1), single, waiting(single, 1, 3)),
			[]string{
				"docker node update --label-add 'env=prod' node-1 && docker service update --replicas-max-per-node 3 web | 3 on node-1 | none",
				"docker node update --label-add 'env=prod' node-1 | 1 on node-1 | none",
			},
		},
	})
}

func TestASearchThatLeavesCombinationsOutSaysSo(t *testing.T) {
	t.Parallel()
	web := service("web", 3, reserves(16*gib, 0), constrained("node.labels.env==prod"))
	few, many := list(web, waiting(web, 1, 3)), list(web, waiting(web, 1, 3))
	for i := range promising + 1 {
		if i < 2 {
			few = append(few, node(i+1, drained, memoryOf(gib/2)))
		}
		many = append(many, node(i+1, drained, memoryOf(gib/2)))
	}
	const note = "there are more combinations of changes than were tried"
	for name, objects := range map[string][]any{"few nodes": few, "many nodes": many} {
		state := stateOf(t, objects...)
		found, err := Find(t.Context(), state, diagnosed(t, state, "placement-constraint"))
		if err != nil {
			t.Fatal(err)
		}
		all := slices.ContainsFunc(found.Remedies, func(r analyzer.Remedy) bool { return r.Places == 3 })
		if got, want := slices.Contains(found.Notes, note), name == "many nodes" && !all; got != want {
			t.Errorf("%s: notes %q, places all %t", name, found.Notes, all)
		}
	}
}

// TestNoPairOfChangesPlacesMoreThanWasFound tries every pair of the changes that are offered against some reason of a random cluster.
func TestNoPairOfChangesPlacesMoreThanWasFound(t *testing.T) {
	t.Parallel()
	sets, pairs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		state := stateOfRapid(t, drawClosed(t))
		for _, d := range analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true}).Diagnoses {
			if len(d.Waiting) == 0 {
				continue
			}
			found, err := Find(t.Context(), state, &d)
			if err != nil {
				t.Fatal(err)
			}
			best := 0
			for _, r := range found.Remedies {
				best = max(best, r.Places)
				if strings.Contains(r.Command, "&&") {
					sets++
				}
			}
			if slices.ContainsFunc(found.Notes, func(n string) bool { return strings.HasPrefix(n, "there are more") }) {
				continue
			}
			tr := newTrial(state, &d)
			s := newSubject(state, tr.cluster, &d)
			var all []proposal
			for _, g := range s.groups {
				for _, r := range g.reasons {
					all = append(all, s.fixes(g, r)...)
				}
			}
			all = slices.DeleteFunc(all, func(p proposal) bool { return p.change == nil })
			for i, a := range all {
				for _, b := range all[i+1:] {
					if a.sets(b) {
						continue
					}
					pairs++
					r, err := tr.prove(t.Context(), combine([]proposal{a, b}))
					if err != nil {
						t.Fatal(err)
					}
					if r.Places > best {
						t.Fatalf("%s places %d, what was found %d: %+v", r.Command, r.Places, best, found.Remedies)
					}
				}
			}
		}
	})
	t.Logf("%d sets found, %d pairs tried", sets, pairs)
	if sets == 0 || pairs == 0 {
		t.Error("nothing was tried")
	}
}

// drawClosed draws nodes that refuse a service for up to three reasons each.
func drawClosed(t *rapid.T) []any {
	var objects []any
	for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
		changes := []func(*api.Node){memoryOf(int64(rapid.IntRange(2, 16).Draw(t, "memory")) * gib)}
		if rapid.Bool().Draw(t, "drained") {
			changes = append(changes, drained)
		}
		if rapid.Bool().Draw(t, "labelled") {
			changes = append(changes, labelled("env", "prod"))
		}
		objects = append(objects, node(i+1, changes...))
	}
	waits := rapid.IntRange(1, 3).Draw(t, "waiting")
	web := service("web", uint64(waits), reserves(int64(rapid.IntRange(1, 17).Draw(t, "asks"))*gib, 0), constrained("node.labels.env==prod"))
	if rapid.Bool().Draw(t, "limited") {
		perNode(1)(&web.Spec)
	}
	return append(append(objects, web), waiting(web, 1, waits)...)
}
