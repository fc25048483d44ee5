package embedded

import (
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/go-units"
)

// service is a service as `docker service create` sends it, and what must become of its tasks.
type service struct {
	spec    swarm.ServiceSpec
	running int // tasks that must run
	waiting int // tasks that must stay pending
}

// healthy are the services that run whole. They hold what the faults need to find taken: db and trainer most of the two data
// nodes (free on each: 6 GiB, 3 cores, 1 gpu), proxy port 80 on every active node.
func healthy() []service {
	const activeNodes = 5
	return []service{
		{spec: create("web", "nginx:1.27", replicas(3)), running: 3},
		{spec: create("api", "traefik/whoami:v1.10", replicas(2), constraints("node.labels.region==eu-west")), running: 2},
		{spec: create("metrics", "prom/node-exporter:v1.9.1", global()), running: activeNodes},
		{spec: create("proxy", "haproxy:3.0", global(), hostPort(80)), running: activeNodes},
		{
			spec: create("db", "postgres:17", replicas(2), constraints("node.labels.tier==data"),
				reserve(swarm.Resources{MemoryBytes: 10 * units.GiB, NanoCPUs: 2e9})),
			running: 2,
		},
		{
			spec: create("trainer", "pytorch/pytorch:2.6.0", replicas(2), constraints("node.labels.tier==data"),
				reserve(swarm.Resources{NanoCPUs: 3e9, GenericResources: generic("gpu", 3)})),
			running: 2,
		},
	}
}

// option is a flag of `docker service create`.
type option func(*swarm.ServiceSpec)

// create makes the spec that `docker service create --name name … image` sends (docker/cli, serviceOptions.ToService).
func create(name, image string, options ...option) swarm.ServiceSpec {
	var one uint64 = 1
	spec := swarm.ServiceSpec{
		Annotations: swarm.Annotations{Name: name},
		TaskTemplate: swarm.TaskSpec{
			ContainerSpec: &swarm.ContainerSpec{Image: image, DNSConfig: &swarm.DNSConfig{}},
			Resources:     &swarm.ResourceRequirements{Limits: &swarm.Limit{}, Reservations: &swarm.Resources{}},
			Placement:     &swarm.Placement{},
		},
		Mode:         swarm.ServiceMode{Replicated: &swarm.ReplicatedService{Replicas: &one}},
		EndpointSpec: &swarm.EndpointSpec{Mode: swarm.ResolutionModeVIP},
	}
	for _, set := range options {
		set(&spec)
	}
	return spec
}

// replicas is --replicas.
func replicas(count uint64) option {
	return func(s *swarm.ServiceSpec) { s.Mode.Replicated.Replicas = &count }
}

// global is --mode global.
func global() option {
	return func(s *swarm.ServiceSpec) { s.Mode = swarm.ServiceMode{Global: &swarm.GlobalService{}} }
}

// constraints is one --constraint for each expression.
func constraints(expressions ...string) option {
	return func(s *swarm.ServiceSpec) { s.TaskTemplate.Placement.Constraints = expressions }
}

// maxReplicas is --replicas-max-per-node.
func maxReplicas(limit uint64) option {
	return func(s *swarm.ServiceSpec) { s.TaskTemplate.Placement.MaxReplicas = limit }
}

// platforms are what the client adds to the spec after it has asked the registry what the image is built for.
func platforms(built ...swarm.Platform) option {
	return func(s *swarm.ServiceSpec) { s.TaskTemplate.Placement.Platforms = built }
}

// reserve is --reserve-memory, --reserve-cpu and --generic-resource.
func reserve(asked swarm.Resources) option {
	return func(s *swarm.ServiceSpec) { s.TaskTemplate.Resources.Reservations = &asked }
}

// generic is the value of one --generic-resource kind=count.
func generic(kind string, count int64) []swarm.GenericResource {
	return []swarm.GenericResource{{DiscreteResourceSpec: &swarm.DiscreteGenericResource{Kind: kind, Value: count}}}
}

// hostPort is --publish mode=host,published=port,target=port.
func hostPort(port uint32) option {
	return func(s *swarm.ServiceSpec) {
		s.EndpointSpec.Ports = []swarm.PortConfig{{
			Protocol: swarm.PortConfigProtocolTCP, PublishMode: swarm.PortConfigPublishModeHost,
			PublishedPort: port, TargetPort: port,
		}}
	}
}

// mounted is --mount.
func mounted(m mount.Mount) option {
	return func(s *swarm.ServiceSpec) { s.TaskTemplate.ContainerSpec.Mounts = []mount.Mount{m} }
}

// logDriver is --log-driver.
func logDriver(name string) option {
	return func(s *swarm.ServiceSpec) { s.TaskTemplate.LogDriver = &swarm.Driver{Name: name} }
}
