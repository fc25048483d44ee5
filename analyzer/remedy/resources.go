package remedy

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.Resources, reserveLess)

// reserveLess lowers a reservation to the most that lets as many of the waiting tasks as can be run where they are wanted;
// a kind of generic resource that nodes offer in another case is corrected instead, and one that none offers has to be advertised.
func reserveLess(s *subject, g *group, r filters.Reason) []proposal {
	if r.What == "" {
		return nil
	}
	if corrected := correctKind(s, g, r); len(corrected) > 0 {
		return corrected
	}
	if kind, isGeneric := strings.CutPrefix(r.What, filters.GenericPrefix); isGeneric && !offered(g, kind) {
		return advertise(g, kind)
	}
	fits := s.largestThatFits(g, r.What)
	if fits == 0 {
		return nil
	}
	kind, isGeneric := strings.CutPrefix(r.What, filters.GenericPrefix)
	var p []proposal
	switch {
	case isGeneric:
		p = s.updateService(func(spec *api.ServiceSpec) { setGeneric(reservationsOf(spec), kind, kind, fits) },
			flag("--generic-resource-add", fmt.Sprintf("%s=%d", kind, fits))) // it replaces the amount of a kind that is there
		p = s.inStack(p, pathGeneric, composeGeneric(s.service, kind, kind, fits))
	case r.What == filters.Memory:
		p = s.updateService(func(spec *api.ServiceSpec) { reservationsOf(spec).MemoryBytes = fits }, flag("--reserve-memory", memory(fits)))
		p = s.inStack(p, pathReservations+"memory", strings.TrimSuffix(memory(fits), "iB"))
	default:
		p = s.updateService(func(spec *api.ServiceSpec) { reservationsOf(spec).NanoCPUs = fits }, flag("--reserve-cpu", cpus(fits)))
		p = s.inStack(p, pathReservations+"cpus", "'"+cpus(fits)+"'")
	}
	return noted(p, "what a task of it uses is not known here: see that it does with that")
}

// Where a stack's file has reservations.
const (
	pathReservations = "deploy.resources.reservations."
	pathGeneric      = pathReservations + "generic_resources"
)

// largestThatFits is the most of a resource, in its smallest unit and rounded down to what is read easily, that a task may
// reserve so that as many of those that wait as can be find room on the nodes; zero where none would.
func (s *subject) largestThatFits(g *group, what string) int64 {
	least := map[string]int64{filters.Memory: leastMemory, filters.CPU: leastCPU}[what]
	least = max(least, 1)
	target := min(s.tasks(), s.room(g, what, least))
	if target == 0 {
		return 0
	}
	low, high := least, whole(what, filters.Asked(g.waiting.Task())[what]) // low does, high does not
	for high-low > 1 {
		if middle := low + (high-low)/2; s.room(g, what, middle) >= target {
			low = middle
		} else {
			high = middle
		}
	}
	return max(readable(what, low), least)
}

// Reservations below these are refused (manager/controlapi.validateResources).
const (
	leastMemory = 4 << 20
	leastCPU    = 1e9 / 1000
)

// room is how many waiting tasks fit on the nodes of a group if each reserved this much of one resource, as far as amounts,
// the limit of replicas per node and host ports go. What else the group is short of counts for nothing.
func (s *subject) room(g *group, what string, each int64) int {
	t, sum := g.waiting.Task(), 0
	for _, row := range g.rows {
		fits := whole(what, row.Node.Free(what)) / each
		for other, asked := range filters.Asked(t) {
			short := slices.Contains(g.reasons, filters.Reason{Filter: filters.Resources, What: other})
			each := whole(other, asked) // docker takes a generic resource of which a service asks none
			if other != what && !short && each > 0 {
				fits = min(fits, whole(other, row.Node.Free(other))/each)
			}
		}
		if p := t.Spec.Placement; p != nil && p.MaxReplicas > 0 && !g.fails(filters.MaxReplicas) {
			fits = min(fits, int64(p.MaxReplicas)-int64(row.Node.ActiveTasks(t.ServiceID)))
		}
		for range filters.HostPorts(t) {
			fits = min(fits, 1)
		}
		if t.NodeID != "" {
			fits = min(fits, 1) // of a global service
		}
		if sum += int(max(fits, 0)); sum >= s.tasks() {
			break
		}
	}
	return sum
}

// whole is an amount of filters.Asked in bytes, billionths of a core, or pieces.
func whole(what string, value float64) int64 {
	if what == filters.CPU {
		value *= 1e9
	}
	return int64(math.Round(value))
}

// readable rounds down: memory to a quarter of its highest binary digit and to 1 GiB at most, CPU to two decimal digits.
func readable(what string, value int64) int64 {
	step := int64(1)
	switch {
	case what == filters.Memory:
		for step = 1 << 20; step < 1<<30 && step*8 <= value; step *= 2 {
		}
	case what == filters.CPU && value >= 1e9:
		step = 1e8
	case what == filters.CPU && value >= 1e8:
		step = 1e7
	case what == filters.CPU:
		step = leastCPU
	}
	return value / step * step
}

// memory writes bytes as docker reads them (github.com/docker/go-units.RAMInBytes).
func memory(bytes int64) string {
	if bytes%(1<<30) == 0 {
		return fmt.Sprintf("%dGiB", bytes>>30)
	}
	return fmt.Sprintf("%dMiB", bytes>>20)
}

// cpus writes billionths of a core as docker reads them (docker/cli opts.ParseCPUs).
func cpus(nano int64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%09d", nano/1e9, nano%1e9), "0"), ".")
}

// correctKind spells a kind of generic resource as nodes offer it that have enough of it free.
func correctKind(s *subject, g *group, r filters.Reason) []proposal {
	kind, isGeneric := strings.CutPrefix(r.What, filters.GenericPrefix)
	if !isGeneric {
		return nil
	}
	asked := filters.Asked(g.waiting.Task())[r.What]
	for _, row := range g.rows {
		for _, offered := range row.Node.Kinds() {
			if offered == kind || !strings.EqualFold(offered, kind) || row.Node.Free(filters.GenericPrefix+offered) < asked {
				continue
			}
			amount := int64(asked)
			p := s.updateService(func(spec *api.ServiceSpec) { setGeneric(reservationsOf(spec), kind, offered, amount) },
				flag("--generic-resource-rm", kind), flag("--generic-resource-add", fmt.Sprintf("%s=%d", offered, amount)))
			return s.inStack(p, pathGeneric, composeGeneric(s.service, kind, offered, amount))
		}
	}
	return nil
}

// reservationsOf is what a spec reserves, to be changed.
func reservationsOf(spec *api.ServiceSpec) *api.Resources {
	if spec.Task.Resources == nil {
		spec.Task.Resources = &api.ResourceRequirements{}
	}
	if spec.Task.Resources.Reservations == nil {
		spec.Task.Resources.Reservations = &api.Resources{}
	}
	return spec.Task.Resources.Reservations
}

func setGeneric(r *api.Resources, kind, to string, amount int64) {
	r.Generic = slices.DeleteFunc(slices.Clone(r.Generic), func(g *api.GenericResource) bool { return genericresource.Kind(g) == kind })
	r.Generic = append(r.Generic, genericresource.NewDiscrete(to, amount))
}

// composeGeneric writes all generic resources of a service as a stack's file does, one of them changed.
func composeGeneric(s *api.Service, kind, to string, amount int64) string {
	type discrete struct {
		Kind  string `json:"kind"`
		Value int64  `json:"value"`
	}
	type resource struct {
		Discrete discrete `json:"discrete_resource_spec"`
	}
	var all []resource
	spec := s.Spec.Copy()
	reserved := reservationsOf(spec)
	setGeneric(reserved, kind, to, amount)
	for _, g := range reserved.Generic {
		if d := g.GetDiscreteResourceSpec(); d != nil { // a service cannot reserve by name
			all = append(all, resource{discrete{d.Kind, d.Value}})
		}
	}
	return flow(all)
}

// flow writes a value in YAML's flow style, of which JSON is a part.
func flow(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic("remedy: " + err.Error()) // numbers and text can always be written
	}
	return string(text)
}
