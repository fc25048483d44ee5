package collectortest

import "github.com/moby/swarmkit/v2/api"

// Service is replicated, and updated one task at a time, the old one stopped first. Its id is service- and its name.
func Service(name string, replicas uint64, set ...func(*api.ServiceSpec)) *api.Service {
	s := &api.Service{
		ID: "service-" + name, SpecVersion: &api.Version{Index: 7},
		Spec: api.ServiceSpec{
			Annotations: api.Annotations{Name: name},
			Mode:        &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: replicas}},
			Update:      &api.UpdateConfig{Parallelism: 1},
			Task: api.TaskSpec{
				Runtime:   &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: "app:1"}},
				Resources: &api.ResourceRequirements{Reservations: &api.Resources{}},
				Placement: &api.Placement{},
			},
		},
	}
	edited(&s.Spec, set)
	if s.Spec.Endpoint != nil {
		s.Endpoint = &api.Endpoint{Ports: s.Spec.Endpoint.Ports}
	}
	return s
}

// Reserves has each task reserve bytes of memory and billionths of a core.
func Reserves(memory, nanoCPUs int64) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.Resources.Reservations.MemoryBytes, s.Task.Resources.Reservations.NanoCPUs = memory, nanoCPUs
	}
}

// Constrained gives a service placement constraints.
func Constrained(constraints ...string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) { s.Task.Placement.Constraints = constraints }
}

// Publishes has a service take a port of every node where it runs.
func Publishes(port uint32) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Endpoint = &api.EndpointSpec{Ports: []*api.PortConfig{{TargetPort: 80, PublishedPort: port, PublishMode: api.PublishModeHost}}}
	}
}

// Global has a service run once on every node.
func Global(s *api.ServiceSpec) { s.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}} }
