package remedy

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Bounds of the sets of services that are weighed, besides largestSet.
const (
	// wideNodes is on how many nodes of a group, those that lack least, more than one service is tried to move.
	wideNodes = 32
	// wideServices is how many services of one node are tried together, those that hold most.
	wideServices = 16
)

// holding is a service whose tasks on a node hold what others wait for.
type holding struct {
	service *api.Service
	node    *filters.Node
	tasks   int
	// least is how many of them would do if this service alone left.
	least int
	frees []int64 // of each reason of the group, in the units of whole
	share float64 // of what the waiting ask, the most that it holds of one resource
}

func byName(a, b holding) int {
	return strings.Compare(a.service.Spec.Annotations.Name, b.service.Spec.Annotations.Name)
}

// freeing is services that hold so much on a node that it would take a task that waits without them, and would not without
// all but one of them.
type freeing struct {
	holdings []holding
	tasks    int
	share    float64
}

// freeing are the sets of services whose leaving frees a node, as far as amounts and ports go, the smallest first.
func (s *subject) freeing() []freeing {
	var all []freeing
	for _, g := range s.groups {
		if !g.failsOnly(filters.Resources, filters.HostPort) {
			continue
		}
		for i, row := range g.rows {
			lacks, is := g.lacks(row.Node)
			if !is {
				continue
			}
			holdings, largest := s.holdingsOn(g, row.Node, lacks), largestSet
			if i >= wideNodes || len(holdings) > wideServices {
				s.moving.more = s.moving.more || len(holdings) > 1
			}
			if i >= wideNodes {
				largest = 1
			}
			f := finder{lacks: lacks, holdings: holdings, largest: largest}
			f.find(nil, 0)
			all = append(all, f.found...)
		}
	}
	slices.SortStableFunc(all, func(a, b freeing) int {
		return cmp.Or(a.tasks-b.tasks, len(a.holdings)-len(b.holdings), cmp.Compare(a.share, b.share), slices.CompareFunc(a.holdings, b.holdings, byName))
	})
	return all
}

// lacks is what has to be free on a node for a task of the group, by reason: an amount in the units of whole, or how many
// hold its ports. There is no telling for a task that asks none of what is short.
func (g *group) lacks(n *filters.Node) (lacks []int64, is bool) {
	t := g.waiting.Task()
	for _, r := range g.reasons {
		switch {
		case r.Filter == filters.HostPort:
			held := int64(0)
			for port := range filters.HostPorts(t) {
				held += int64(len(n.PortHolders(t, port)))
			}
			lacks = append(lacks, held)
		case r.What == "":
			return nil, false
		default:
			lacks = append(lacks, whole(r.What, filters.Reserved(t, r.What))-whole(r.What, n.Free(r.What)))
		}
	}
	return lacks, true
}

// holdingsOn are the services that hold some of what is lacking on a node, those first that hold most; tasks that are to
// end where they are count for nothing.
func (s *subject) holdingsOn(g *group, n *filters.Node, lacks []int64) []holding {
	var holdings []holding
	for id, tasks := range ownersOn(n) {
		service := s.state.Service(id)
		if service == nil || service.Spec.GetReplicated() == nil || id == g.waiting.Task().ServiceID {
			continue
		}
		h := holding{service: service, node: n, tasks: len(tasks), frees: g.frees(n, tasks)}
		for i, r := range g.reasons {
			if r.Filter == filters.Resources {
				h.share = max(h.share, float64(h.frees[i])/float64(whole(r.What, filters.Reserved(g.waiting.Task(), r.What))))
			}
		}
		if slices.Max(h.frees) > 0 {
			h.least = h.leastOf(lacks)
			holdings = append(holdings, h)
		}
	}
	slices.SortFunc(holdings, func(a, b holding) int { return cmp.Or(cmp.Compare(b.share, a.share), byName(a, b)) })
	return holdings
}

// frees is what tasks hold of what is lacking, by reason.
func (g *group) frees(n *filters.Node, tasks []*api.Task) []int64 {
	t, frees := g.waiting.Task(), make([]int64, len(g.reasons))
	for i, r := range g.reasons {
		if r.Filter == filters.HostPort {
			for port := range filters.HostPorts(t) {
				for _, holder := range n.PortHolders(t, port) {
					if slices.Contains(tasks, holder) {
						frees[i]++
					}
				}
			}
			continue
		}
		for _, held := range tasks {
			frees[i] += whole(r.What, filters.Reserved(held, r.What))
		}
	}
	return frees
}

// leastOf is how many tasks of the service hold as much as is lacking, all alike; more than it has where all do not.
func (h *holding) leastOf(lacks []int64) int {
	least := 1
	for i, lack := range lacks {
		if h.frees[i] <= 0 {
			return h.tasks + 1
		}
		least = max(least, int(math.Ceil(float64(lack)*float64(h.tasks)/float64(h.frees[i]))))
	}
	return least
}

// ownersOn are the tasks on a node, by the ids of their services, but for those that are to end where they are.
func ownersOn(n *filters.Node) map[string][]*api.Task {
	byService := make(map[string][]*api.Task, len(n.Tasks))
	for _, t := range n.Tasks {
		if t.DesiredState <= api.TaskStateCompleted {
			byService[t.ServiceID] = append(byService[t.ServiceID], t)
		}
	}
	return byService
}

// finder finds the sets of services that free a node.
type finder struct {
	lacks    []int64
	holdings []holding
	largest  int // how many services are in a set at most
	found    []freeing
}

// find adds to a set what stands from a place on, until it does.
func (f *finder) find(set []holding, from int) {
	if f.does(set, -1) {
		f.keep(set)
		return
	}
	if len(set) == f.largest {
		return
	}
	for i := from; i < len(f.holdings); i++ {
		if len(set) == 0 || i < wideServices {
			f.find(append(set, f.holdings[i]), i+1)
		}
	}
}

// keep adds a set that is as small as can be.
func (f *finder) keep(set []holding) {
	if len(set) == 0 {
		return
	}
	found := freeing{holdings: slices.Clone(set)}
	for i, h := range set {
		if f.does(set, i) {
			return
		}
		found.tasks += h.tasks
		found.share += h.share
	}
	f.found = append(f.found, found)
}

// does tells whether a set without one of its members frees as much as is lacking.
func (f *finder) does(set []holding, without int) bool {
	for i, lack := range f.lacks {
		for j, h := range set {
			if j != without {
				lack -= h.frees[i]
			}
		}
		if lack > 0 {
			return false
		}
	}
	return true
}
