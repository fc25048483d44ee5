package capacity

import (
	"context"
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/analyzer/remedy"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// mostNodes is how many new nodes of a kind are looked at.
	mostNodes = 1000
	// confirmTries is how many more nodes than the search found are tried in the whole cluster.
	confirmTries = 4
)

// Need is how many more nodes of a kind would place what waits.
type Need struct {
	// Like is the name of a node of the kind.
	Like string `json:"like"`
	// Nodes is the number that places all that any number of them could; zero where that is nothing.
	Nodes int `json:"nodes"`
	// Places of the Waiting tasks are placed by that many. Where it is fewer, Cannot names the services that no number of
	// such nodes would place, and Refused tells why.
	Places  int       `json:"places"`
	Waiting int       `json:"waiting"`
	Cannot  []string  `json:"cannot,omitempty"`
	Refused []Refusal `json:"refused,omitempty"`
	// Unproven is set where the whole cluster with that many nodes was not seen to place them: there are too many, or the
	// time was up.
	Unproven string `json:"unproven,omitempty"`
}

// needs finds the number of new nodes for each kind. ended tells that the time was up before all kinds were looked at.
func (s *stuck) needs(ctx context.Context, before placed) (needs []Need, ended bool, err error) {
	for _, k := range kindsOf(s.cluster, s.state) {
		need, err := s.need(ctx, k, before)
		if outOfTime(err) {
			return needs, true, nil
		}
		if err != nil {
			return nil, false, fmt.Errorf("count the nodes like %s that are needed: %w", k.like.Name, err)
		}
		needs = append(needs, need)
	}
	return needs, false, nil
}

func (s *stuck) need(ctx context.Context, k *kind, before placed) (Need, error) {
	need := Need{Like: k.like.Name, Waiting: len(s.tasks) - before.sum()}
	if need.Waiting == 0 {
		return need, nil
	}
	possible, refused, err := s.possible(ctx, k, before)
	if err != nil {
		return need, err
	}
	need.Places, need.Refused = len(possible), refused.sorted()
	for _, r := range need.Refused {
		need.Cannot = append(need.Cannot, r.Services...)
	}
	slices.Sort(need.Cannot)
	need.Cannot = slices.Compact(need.Cannot)
	if len(possible) == 0 {
		return need, nil
	}
	// One node for each task always does: each takes one at least.
	most := min(len(possible), mostNodes)
	need.Nodes, err = least(most, func(number int) (bool, error) {
		n, err := s.onNew(ctx, k, number, possible)
		return n == len(possible), err
	})
	if err != nil {
		return need, err
	}
	if need.Nodes > most {
		need.Nodes, need.Unproven = mostNodes, fmt.Sprintf("not even %d nodes place all of them", mostNodes)
		return need, nil
	}
	return need, s.confirm(ctx, k, before, &need, most)
}

// possible are the waiting tasks that a new node of the kind would take were it the only one asked; refused are the others.
func (s *stuck) possible(ctx context.Context, k *kind, before placed) (tasks []*api.Task, refused refusals, err error) {
	empty, err := s.only(k.more(1))
	if err != nil {
		return nil, nil, err
	}
	cluster, left := filters.NewCluster(empty), placed{}
	refused = refusals{}
	for id, n := range before {
		left[id] = n
	}
	for _, w := range s.waiting {
		waits := slices.DeleteFunc(slices.Clone(w.Tasks), func(t *api.Task) bool {
			isPlaced := left[t.ServiceID] > 0
			left[t.ServiceID]--
			return t.ID == "" || isPlaced
		})
		if len(waits) == 0 {
			continue
		}
		n, err := s.onNew(ctx, k, 1, waits[:1])
		if err != nil {
			return nil, nil, err
		}
		if n == 0 {
			refused.add(whyNot(cluster, waits[0]), s.name(waits[0]), len(waits))
			continue
		}
		tasks = append(tasks, waits...)
	}
	return tasks, refused, nil
}

func (s *stuck) name(t *api.Task) string {
	if service := s.state.Service(t.ServiceID); service != nil {
		return service.Spec.Annotations.Name
	}
	return t.ServiceID
}

// onNew tells how many of the tasks new nodes take, which have nothing on them but what global services put there. The
// other nodes are left out: they take none of these tasks.
func (s *stuck) onNew(ctx context.Context, k *kind, number int, tasks []*api.Task) (int, error) {
	nodes := k.more(number)
	state, err := s.only(nodes)
	if err != nil {
		return 0, err
	}
	placement, err := remedy.Place(ctx, state, slices.Concat(tasks, s.newcomers(state, nodes)))
	if err != nil {
		return 0, err
	}
	count := 0
	for _, t := range tasks {
		if _, on := placement.On[t.ID]; on {
			count++
		}
	}
	return count, nil
}

// only is the cluster with other nodes, and of its tasks those alone that use cluster volumes.
func (s *stuck) only(nodes []*api.Node) (*collector.State, error) {
	store := collector.NewStore()
	store.Describe(s.state.About)
	var objects []any
	for _, n := range nodes {
		objects = append(objects, n)
	}
	for service := range s.state.Services() {
		objects = append(objects, service)
	}
	for v := range s.state.Volumes() {
		objects = append(objects, v)
	}
	for _, t := range s.cluster.VolumeUsers() {
		objects = append(objects, t)
	}
	if err := store.Replace(objects); err != nil {
		return nil, fmt.Errorf("make a cluster of new nodes: %w", err)
	}
	return store.Snapshot(), nil
}

// confirm adds the nodes to the whole cluster, and some more where that turns out not to do: other tasks go there, too.
func (s *stuck) confirm(ctx context.Context, k *kind, before placed, need *Need, most int) error {
	for number := need.Nodes; number <= min(need.Nodes+confirmTries, most); number++ {
		after, err := s.place(ctx, nil, k.more(number)...)
		if outOfTime(err) {
			need.Unproven = "the time was up before it could be proven in the whole cluster"
			return nil
		}
		if err != nil {
			return err
		}
		if after.sum()-before.sum() >= need.Places {
			need.Nodes = number
			return nil
		}
	}
	need.Unproven = "the scheduler did not place all of them when it was tried in the whole cluster"
	return nil
}

// least returns the least number from 1 on that is enough, by doubling and halving; most+1 where none up to most is.
func least(most int, enough func(int) (bool, error)) (int, error) {
	low, high := 0, 1 // low is not enough
	for {
		high = min(high, most)
		is, err := enough(high)
		if err != nil {
			return 0, err
		}
		if is {
			break
		}
		if high == most {
			return most + 1, nil
		}
		low, high = high, 2*high
	}
	for low+1 < high {
		middle := (low + high) / 2
		is, err := enough(middle)
		if err != nil {
			return 0, err
		}
		if is {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}
