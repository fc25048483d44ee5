package remedy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/log"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

func TestAProvenMoveDoesWhatItSaysAndNoLessDoes(t *testing.T) {
	t.Parallel()
	byServices := map[int]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := drawFragmented(t)
		state := stateOfRapid(t, c.objects())
		for _, d := range analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true}).Diagnoses {
			if d.Subject.Name != "web" || len(d.Waiting) == 0 {
				continue
			}
			tr := newTrial(state, &d)
			s := newSubject(state, tr.cluster, &d)
			if len(s.groups[0].reasons) == 0 {
				continue // a node takes it as things are
			}
			for _, p := range s.moves() {
				r, err := tr.prove(context.Background(), p)
				if err != nil {
					t.Fatal(err)
				}
				if !r.Verified {
					continue
				}
				adds := p.commands[:len(p.commands)/2]
				byServices[len(adds)]++
				c.doesWhatItSays(t, adds, r)
				for i := range adds {
					if placed, _, _ := c.after(t, slices.Delete(slices.Clone(adds), i, i+1)); placed > 0 {
						t.Fatalf("without %s the scheduler places %d as well: %s\n%s", adds[i], placed, r.Command, c)
					}
				}
			}
		}
	})
	t.Logf("moves by how many services leave: %v", byServices)
	if len(byServices) == 0 {
		t.Error("no move was proven: nothing was tried")
	}
}

// drawFragmented draws nodes on which services hold memory and ports, and one that waits for more than any has free.
func drawFragmented(t *rapid.T) *cluster {
	c := &cluster{}
	free := map[string]int{}
	for i := range rapid.IntRange(2, 4).Draw(t, "nodes") {
		c.nodes = append(c.nodes, node(i+1, memoryOf(16*gib)))
		free[c.nodes[i].ID] = 16
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "services") {
		holds := rapid.IntRange(1, 6).Draw(t, "holds")
		s := service(fmt.Sprintf("s%d", i), 4, reserves(int64(holds)*gib, 0))
		if rapid.Bool().Draw(t, "publishes") {
			publishes(80)(&s.Spec)
			s.Endpoint = &api.Endpoint{Ports: s.Spec.Endpoint.Ports}
		}
		constrained(pick(t, "constraint", nil, nil, []string{"node.hostname!=node-1"}, []string{"node.hostname!=node-2"})...)(&s.Spec)
		c.services = append(c.services, s)
		for slot := range rapid.IntRange(1, 3).Draw(t, "tasks") {
			task := newTask(s, slot+1, api.TaskStateRunning)
			task.NodeID = pick(t, "on", c.nodes...).ID
			forbidden := slices.Contains(s.Spec.Task.Placement.Constraints, "node.hostname!=node-"+strings.TrimPrefix(task.NodeID, "id"))
			if free[task.NodeID] >= holds && !forbidden {
				free[task.NodeID] -= holds
				c.running = append(c.running, task)
			}
		}
	}
	web := service("web", 2, reserves(int64(rapid.IntRange(5, 16).Draw(t, "asks"))*gib, 0))
	if rapid.Bool().Draw(t, "wants the port") {
		publishes(80)(&web.Spec)
		web.Endpoint = &api.Endpoint{Ports: web.Spec.Endpoint.Ports}
	}
	c.services = append(c.services, web)
	for slot := range rapid.IntRange(1, 2).Draw(t, "waiting") {
		c.pending = append(c.pending, newTask(web, slot+1, api.TaskStatePending))
	}
	return c
}

// doesWhatItSays runs the commands of a proven move again and again, as the scheduler breaks ties at random.
func (c *cluster) doesWhatItSays(t *rapid.T, adds []command, r analyzer.Remedy) {
	for range 5 {
		placed, on, moved := c.after(t, adds)
		if placed < r.Places || moved != r.Restarts {
			t.Fatalf("%s: the scheduler places %d and %d tasks have moved: want %d and %d\n%s", r.Command, placed, moved, r.Places, r.Restarts, c)
		}
		for _, name := range on {
			if !slices.Contains(r.On, name) {
				t.Fatalf("%s: the scheduler places a task on %s: want one of %v\n%s", r.Command, name, r.On, c)
			}
		}
	}
}

// after does what the managers do with the first half of a move's commands, in a store with every object as it is: of each
// service in turn what does not meet its new constraint ends, one by one, and the scheduler places another one instead,
// while the rest waits beside it. It returns how many of the waiting tasks were placed and on which nodes, and how many
// have moved.
func (c *cluster) after(t *rapid.T, adds []command) (placed int, on []string, moved int) {
	now := &cluster{nodes: c.nodes, services: slices.Clone(c.services), running: slices.Clone(c.running), pending: c.pending}
	for _, add := range adds {
		constraint := strings.Trim(strings.TrimPrefix(add.flags[0], "--constraint-add "), "'")
		i := slices.IndexFunc(now.services, func(s *api.Service) bool { return s.Spec.Annotations.Name == add.object })
		s := now.services[i].Copy()
		s.Spec.Task.Placement.Constraints = append(s.Spec.Task.Placement.Constraints, constraint)
		s.SpecVersion.Index++
		now.services[i] = s
		for i, old := range now.running {
			if old.ServiceID != s.ID || "node.id!="+old.NodeID != constraint {
				continue
			}
			anew := newTask(s, int(old.Slot), api.TaskStatePending)
			anew.ID = "instead of " + old.ID
			now.running[i] = anew
			now.schedule(t)
			if now.running[i].NodeID != "" {
				moved++
			}
		}
	}
	now.schedule(t)
	for _, task := range now.pending {
		if task.NodeID != "" {
			placed++
			on = append(on, "node-"+strings.TrimPrefix(task.NodeID, "id"))
		}
	}
	return placed, on, moved
}

// schedule runs the scheduler over a store with every object as it is; what it places runs.
func (c *cluster) schedule(t *rapid.T) {
	whole := c.store(t)
	defer whole.Close()
	if err := Schedule(log.WithLogger(t.Context(), silent), whole); err != nil {
		t.Fatal(err)
	}
	for _, tasks := range []*[]*api.Task{&c.running, &c.pending} {
		*tasks = slices.Clone(*tasks)
		where := read(whole, *tasks).On
		for i, task := range *tasks {
			if id, is := where[task.ID]; is && task.NodeID == "" {
				runs := *task
				runs.NodeID, runs.Status.State = id, api.TaskStateRunning
				(*tasks)[i] = &runs
			}
		}
	}
}
