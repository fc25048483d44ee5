package filters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
)

// The resources that a task can reserve, as evidence and metrics spell them; a generic one is GenericPrefix and its kind.
const (
	Memory        = "memory"
	CPU           = "cpu"
	GenericPrefix = "generic:"
)

// Asked returns what a task reserves: bytes of memory, cores of CPU, counts of generic resources.
// Only what is asked for is there.
func Asked(t *api.Task) map[string]float64 {
	asked := map[string]float64{}
	reserved := Reservations(t)
	if reserved.MemoryBytes != 0 {
		asked[Memory] = float64(reserved.MemoryBytes)
	}
	if reserved.NanoCPUs != 0 {
		asked[CPU] = cores(reserved.NanoCPUs)
	}
	for _, generic := range reserved.Generic {
		asked[GenericPrefix+genericresource.Kind(generic)] += amount(generic)
	}
	return asked
}

// Reserved returns how much of one resource a task reserves, in the units of Asked.
func Reserved(t *api.Task, what string) float64 { return amountIn(Reservations(t), what) }

// Total returns how much of a resource the node has in all, in the units of Asked.
func (n *Node) Total(what string) float64 {
	if n.Description == nil {
		return 0
	}
	return amountIn(n.Description.Resources, what)
}

// Free returns how much of a resource is not reserved on the node; negative where more is reserved than there is.
func (n *Node) Free(what string) float64 { return amountIn(n.info.AvailableResources, what) }

// Holders returns the tasks that reserve the resource on the node, largest first.
func (n *Node) Holders(what string) []Holding {
	var holders []Holding
	for _, t := range n.Tasks {
		if amount := Reserved(t, what); amount > 0 {
			holders = append(holders, Holding{Task: t, Amount: amount})
		}
	}
	slices.SortStableFunc(holders, func(a, b Holding) int {
		switch {
		case a.Amount > b.Amount:
			return -1
		case a.Amount < b.Amount:
			return 1
		}
		return 0
	})
	return holders
}

// Holding is a task and how much it holds, in the units of Asked.
type Holding struct {
	Task   *api.Task
	Amount float64
}

func amountIn(r *api.Resources, what string) float64 {
	switch {
	case r == nil:
		return 0
	case what == Memory:
		return float64(r.MemoryBytes)
	case what == CPU:
		return cores(r.NanoCPUs)
	}
	kind, ok := strings.CutPrefix(what, GenericPrefix)
	if !ok {
		return 0
	}
	sum := 0.0
	for _, generic := range r.Generic {
		if genericresource.Kind(generic) == kind {
			sum += amount(generic)
		}
	}
	return sum
}

// amount counts a generic resource: a discrete one by its value, each name of a set once.
func amount(generic *api.GenericResource) float64 {
	if discrete := generic.GetDiscreteResourceSpec(); discrete != nil {
		return float64(discrete.Value)
	}
	return 1
}

func cores(nano int64) float64 { return float64(nano) / 1e9 }

// Kinds returns the kinds of generic resources that the node offers, in the order that it tells them.
func (n *Node) Kinds() []string {
	if n.Description == nil || n.Description.Resources == nil {
		return nil
	}
	var kinds []string
	for _, generic := range n.Description.Resources.Generic {
		if kind := genericresource.Kind(generic); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Offers writes the generic resources of the node as its description lists them: "gpu=UUID1 gpu=UUID2 ssd=3".
func (n *Node) Offers() string {
	if n.Description == nil || n.Description.Resources == nil {
		return ""
	}
	var offers strings.Builder
	for _, generic := range n.Description.Resources.Generic {
		if named := generic.GetNamedResourceSpec(); named != nil {
			fmt.Fprintf(&offers, "%s=%s ", named.Kind, named.Value)
		}
		if discrete := generic.GetDiscreteResourceSpec(); discrete != nil {
			fmt.Fprintf(&offers, "%s=%d ", discrete.Kind, discrete.Value)
		}
	}
	return strings.TrimSpace(offers.String())
}
