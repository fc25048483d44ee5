package main

import (
	"fmt"

	"github.com/docker/go-units"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
)

// reason is something that tasks wait for.
type reason struct {
	cause string
	// ask makes the i-th service of this reason wait for it.
	ask func(spec *api.ServiceSpec, i int)
}

// reasons are why the groups wait, in turn.
var reasons = []reason{
	{"placement-constraint", func(s *api.ServiceSpec, i int) {
		constrain(s, fmt.Sprintf("node.labels.rak == r%d", i))
	}},
	{"placement-constraint", func(s *api.ServiceSpec, i int) {
		constrain(s, "node.labels.tier == edge", "node.labels.zone == "+foreignZone, fmt.Sprintf("node.labels.rack != r%d", i))
	}},
	{"no-available-node", func(s *api.ServiceSpec, i int) {
		constrain(s, fmt.Sprintf("node.labels.rack == spare-%d", i%2))
	}},
	{"insufficient-memory", func(s *api.ServiceSpec, i int) {
		s.Task.Resources = reserve(0.1, int64(44+i)*units.GiB)
	}},
	{"insufficient-memory", func(s *api.ServiceSpec, i int) {
		s.Task.Resources = reserve(0.1, int64(80+i)*units.GiB)
		constrain(s, fmt.Sprintf("node.labels.rack != r%d", i))
	}},
	{"insufficient-cpu", func(s *api.ServiceSpec, i int) {
		s.Task.Resources = reserve(8+float64(i), 256*units.MiB)
	}},
	{"insufficient-generic-resource", func(s *api.ServiceSpec, i int) {
		s.Task.Resources = &api.ResourceRequirements{Reservations: &api.Resources{
			Generic: []*api.GenericResource{genericresource.NewDiscrete("gpu", int64(i+1))},
		}}
	}},
	{"plugin-missing", func(s *api.ServiceSpec, i int) {
		s.Task.LogDriver = &api.Driver{Name: fmt.Sprintf("splunk-%d", i)}
	}},
	{"platform-mismatch", func(s *api.ServiceSpec, i int) {
		s.Task.Placement = &api.Placement{Platforms: []*api.Platform{{OS: "linux", Architecture: []string{"s390x", "ppc64le", "riscv64"}[i%3]}}}
	}},
	{"host-port-taken", func(s *api.ServiceSpec, _ int) { s.Endpoint = hostPort(ingressPort) }},
}

func constrain(s *api.ServiceSpec, constraints ...string) {
	s.Task.Placement = &api.Placement{Constraints: constraints}
}

const (
	// foreignZone is one that no node at the edge is in; zoned is a service that waits for one that is.
	foreignZone = "z9"
	zoned       = "stuck1_web"
)

// causeOf is what the i-th group waits for.
func causeOf(group int) string { return reasons[group%len(reasons)].cause }

// wait adds the i-th group of tasks that wait.
func (c *cluster) wait(group int) {
	spec := &api.ServiceSpec{Mode: replicas(waitingPerGroup)}
	reasons[group%len(reasons)].ask(spec, group/len(reasons))
	s := c.service(stuckName(group), spec)
	for slot := range waitingPerGroup {
		c.task(s, slot+1)
	}
}

// stuckName is the name of the i-th group's service.
func stuckName(group int) string { return fmt.Sprintf("stuck%d_web", group) }
