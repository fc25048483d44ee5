package remedy

import (
	"slices"
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

func TestWhatANodeIsTooSmallForOnceItIsOpenIsMadeToFit(t *testing.T) {
	t.Parallel()
	var (
		prod   = service("web", 3, reserves(10*gib, 0), constrained("node.labels.env==prod"))
		two    = service("web", 3, reserves(10*gib, 3*core), constrained("node.labels.env==prod"))
		single = service("web", 3, constrained("node.labels.env==prod"), atMost(1))
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

func TestASearchWhoseSetsAreTooSmallSaysSo(t *testing.T) {
	t.Parallel()
	drainedNodes := func(number int) []any {
		objects := list(node(1))
		for i := range number {
			objects = append(objects, node(i+2, drained))
		}
		return objects
	}
	alone := func(replicas int) []any {
		web := service("web", uint64(replicas), publishes(80), constrained("node.role==worker"))
		return list(web, waiting(web, 1, replicas))
	}
	four := service("web", 1, reserves(16*gib, 16*core), constrained("node.labels.env==prod"))
	plugin := service("web", 1, reserves(16*gib, 16*core), constrained("node.labels.env==prod"), func(s *api.ServiceSpec) {
		s.Task.LogDriver = &api.Driver{Name: "splunk"}
	})
	for _, e := range []struct {
		name, cause string
		objects     []any
		says        bool
	}{
		{"three nodes of three are opened", "no-available-node", append(drainedNodes(3), alone(3)...), false},
		{"three nodes of four are opened", "no-available-node", append(drainedNodes(4), alone(4)...), true},
		{"three nodes are opened, and there are no more", "no-available-node", append(drainedNodes(3), alone(4)...), false},
		{"the only node refuses for four reasons", "placement-constraint", list(node(1, drained), four, waiting(four, 1, 1)), true},
		{"one of more than three reasons can be taken away by no change that a copy shows", "placement-constraint", list(node(1, drained), plugin, waiting(plugin, 1, 1)), false},
	} {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			state := stateOf(t, e.objects...)
			found, err := Find(t.Context(), state, diagnosed(t, state, e.cause))
			if err != nil || slices.Contains(found.Notes, leftOut) != e.says {
				t.Errorf("notes %q (%v): want that there are more combinations %t; found %+v", found.Notes, err, e.says, found.Remedies)
			}
		})
	}
}

func TestAPartIsCompletedStepByStep(t *testing.T) {
	t.Parallel()
	web := service("web", 3, publishes(80), constrained("node.role==worker"))
	remedies := remediesOf(t, stateOf(t, node(1), node(2, drained), node(3, drained), node(4, drained), web, waiting(web, 1, 3)), "no-available-node")
	if len(remedies) == 0 || remedies[0].Places != 3 {
		t.Errorf("not all three are placed: %+v", remedies)
	}
}

// TestNoMemberOfASetCanBeLeftOut holds what is kept of random sets against itself without one of its members.
func TestNoMemberOfASetCanBeLeftOut(t *testing.T) {
	t.Parallel()
	sets := 0
	rapid.Check(t, func(t *rapid.T) {
		state := stateOfRapid(t, drawClosed(t))
		for _, d := range analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true}).Diagnoses {
			if len(d.Waiting) == 0 {
				continue
			}
			s := &search{trial: newTrial(state, &d), tried: map[string]*analyzer.Remedy{}}
			s.subject = newSubject(state, s.trial.cluster, &d)
			all := changesAgainst(s.subject)
			than := rapid.IntRange(0, s.subject.tasks()-1).Draw(t, "to place more than")
			var set []proposal
			for range largestSet {
				if p := rapid.SampledFrom(append(all, proposal{})).Draw(t, "member"); p.change != nil && !slices.ContainsFunc(set, p.contradicts) {
					set = append(set, p)
				}
			}
			if len(set) > 1 && s.isMinimal(t, set, than) {
				sets++
			}
			if len(set) > 1 {
				s.placesAll(t, set, than)
			}
		}
	})
	if t.Logf("%d sets", sets); sets == 0 {
		t.Error("no set was found")
	}
}

// isMinimal tells whether a set of several is kept of one that is to place more than so many, after it was held against
// itself without each of its members.
func (s *search) isMinimal(t *rapid.T, set []proposal, than int) bool {
	r, members, err := s.minimal(t.Context(), set, than)
	if err != nil || r == nil || len(members) == 1 {
		return false
	}
	for i := range members {
		less, err := s.trial.prove(t.Context(), combine(slices.Delete(slices.Clone(members), i, i+1)))
		if err != nil || less.Places > than {
			t.Fatalf("%s is to place more than %d, and %s does as well (%v)", r.Command, than, less.Command, err)
		}
	}
	return true
}

// placesAll holds what is kept of a set that places all against that.
func (s *search) placesAll(t *rapid.T, set []proposal, than int) {
	whole, err := s.prove(t.Context(), combine(set))
	if err != nil || whole == nil || whole.Places < s.subject.tasks() {
		return
	}
	if _, err := s.keepMinimal(t.Context(), set, than); err != nil || s.best() < s.subject.tasks() {
		t.Fatalf("%s places all, and is kept as %+v (%v)", whole.Command, s.found.Remedies, err)
	}
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
	for name, objects := range map[string][]any{"few nodes": few, "many nodes": many} {
		state := stateOf(t, objects...)
		found, err := Find(t.Context(), state, diagnosed(t, state, "placement-constraint"))
		if err != nil {
			t.Fatal(err)
		}
		all := slices.ContainsFunc(found.Remedies, func(r analyzer.Remedy) bool { return r.Places == 3 })
		if got, want := slices.Contains(found.Notes, leftOut), name == "many nodes" && !all; got != want {
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
			if slices.Contains(found.Notes, leftOut) {
				continue
			}
			tr := newTrial(state, &d)
			s := newSubject(state, tr.cluster, &d)
			all := changesAgainst(s)
			for i, a := range all {
				for _, b := range all[i+1:] {
					if a.contradicts(b) {
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

// changesAgainst are the changes against any reason that a copy can show to work.
func changesAgainst(s *subject) []proposal {
	var all []proposal
	for _, g := range s.groups {
		for _, r := range g.reasons {
			all = append(all, s.fixes(g, r)...)
		}
	}
	return provable(all)
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
		atMost(1)(&web.Spec)
	}
	return append(append(objects, web), waiting(web, 1, waits)...)
}
