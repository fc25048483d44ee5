package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"
	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/state/store"
)

const (
	// tasksPerNode and services are those of every size, so that what grows is the swarm.
	tasksPerNode = 50
	services     = 250
	// groups of waitingPerGroup tasks each wait, every group for a reason of its own.
	groups          = 50
	waitingPerGroup = 10

	clusterID = "bench"
	// ingressPort is the host-mode port that a global service holds on every node.
	ingressPort = 8080
)

// cluster is a swarm at rest: everything that can run runs, and the groups wait.
type cluster struct {
	nodes    []*api.Node
	services []*api.Service
	tasks    []*api.Task
	network  *api.Network

	random *rand.Rand
	now    time.Time
}

// newCluster makes a swarm of that many nodes. It is the same for every process, but for its times, which are an hour ago.
func newCluster(nodes int) *cluster {
	c := &cluster{random: rand.New(rand.NewPCG(1, 2)), now: time.Now().Add(-time.Hour)}
	c.network = &api.Network{
		ID: c.id(), Meta: c.meta(),
		Spec:        api.NetworkSpec{Annotations: api.Annotations{Name: "backend"}},
		DriverState: &api.Driver{Name: "overlay", Options: map[string]string{"com.docker.network.driver.overlay.vxlanid_list": "4097"}},
		IPAM:        &api.IPAMOptions{Driver: &api.Driver{Name: "default"}, Configs: []*api.IPAMConfig{{Subnet: "10.0.0.0/8", Gateway: "10.0.0.1"}}},
	}
	for i := range nodes {
		c.nodes = append(c.nodes, c.node(i))
	}
	c.runEverywhere()
	c.runReplicas(nodes * (tasksPerNode - 1))
	for i := range groups {
		c.wait(i)
	}
	return c
}

// id is drawn like those of swarmkit (its package identity): 25 digits to the base of 36.
func (c *cluster) id() string {
	id := make([]byte, 25)
	for i := range id {
		id[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[c.random.IntN(36)]
	}
	return string(id)
}

func (c *cluster) meta() api.Meta {
	return api.Meta{Version: api.Version{Index: 1}, CreatedAt: c.stamp(), UpdatedAt: c.stamp()}
}

func (c *cluster) stamp() *gogotypes.Timestamp {
	stamp, err := gogotypes.TimestampProto(c.now)
	if err != nil {
		panic(err) // after the year 9999
	}
	return stamp
}

// The kinds of nodes, by their labels.
const (
	edgeEvery    = 10 // of these one is an aarch64 node at the edge
	drainedEvery = 50 // of these one is drained, and alone in its rack
)

// node is the i-th; the first is the leader.
func (c *cluster) node(i int) *api.Node {
	n := &api.Node{
		ID: c.id(), Meta: c.meta(), Role: api.NodeRoleWorker,
		Spec: api.NodeSpec{
			Annotations: api.Annotations{Labels: map[string]string{
				"rack": fmt.Sprintf("r%d", i/20), "zone": fmt.Sprintf("z%d", i%3), "tier": "app",
			}},
			Membership:   api.NodeMembershipAccepted,
			Availability: api.NodeAvailabilityActive,
		},
		// Loopback, so that nothing that asks these nodes leaves the machine.
		Status: api.NodeStatus{State: api.NodeStatus_READY, Addr: fmt.Sprintf("127.200.%d.%d", i/250, i%250+1)},
		Description: &api.NodeDescription{
			Hostname:  fmt.Sprintf("node-%04d", i+1),
			Platform:  &api.Platform{Architecture: "x86_64", OS: "linux"},
			Resources: &api.Resources{NanoCPUs: 16e9, MemoryBytes: 64 * units.GiB},
			Engine:    &api.EngineDescription{EngineVersion: "28.5.2", Labels: map[string]string{"storage": "nvme"}, Plugins: plugins()},
		},
	}
	switch {
	case i == 0:
		n.Role, n.Spec.DesiredRole = api.NodeRoleManager, api.NodeRoleManager
		n.ManagerStatus = &api.ManagerStatus{Leader: true, Reachability: api.RaftMemberStatus_REACHABLE, Addr: n.Status.Addr + ":2377"}
	case i%edgeEvery == 1:
		n.Spec.Annotations.Labels["tier"] = "edge"
		n.Description.Platform.Architecture = "aarch64"
	case i%drainedEvery == 2:
		n.Spec.Annotations.Labels["rack"] = fmt.Sprintf("spare-%d", i/drainedEvery)
		n.Spec.Availability = api.NodeAvailabilityDrain
	}
	return n
}

// plugins are the drivers of a dockerd without further plugins.
func plugins() []api.PluginDescription {
	var all []api.PluginDescription
	for _, name := range []string{
		"Log/awslogs", "Log/fluentd", "Log/gcplogs", "Log/gelf", "Log/journald", "Log/json-file", "Log/local", "Log/syslog",
		"Network/bridge", "Network/host", "Network/ipvlan", "Network/macvlan", "Network/null", "Network/overlay", "Volume/local",
	} {
		kind, driver, _ := strings.Cut(name, "/")
		all = append(all, api.PluginDescription{Type: kind, Name: driver})
	}
	return all
}

// takes tells whether a node may run tasks.
func takes(n *api.Node) bool { return n.Spec.Availability == api.NodeAvailabilityActive }

// runEverywhere runs a global service that holds a port on every node.
func (c *cluster) runEverywhere() {
	s := c.service("proxy", &api.ServiceSpec{
		Mode:     &api.ServiceSpec_Global{Global: &api.GlobalService{}},
		Endpoint: hostPort(ingressPort),
	})
	for _, n := range c.nodes {
		if takes(n) {
			c.run(s, 0, n)
		}
	}
}

// runReplicas spreads replicated services over the nodes that may run them.
func (c *cluster) runReplicas(tasks int) {
	active := slices.DeleteFunc(slices.Clone(c.nodes), func(n *api.Node) bool { return !takes(n) })
	placed := 0
	for i := range services {
		count := tasks*(i+1)/services - placed
		s := c.service(fmt.Sprintf("app%d_web", i), &api.ServiceSpec{Mode: replicas(count)})
		for slot := range count {
			c.run(s, slot+1, active[(placed+slot)%len(active)])
		}
		placed += count
	}
}

func replicas(count int) *api.ServiceSpec_Replicated {
	return &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: uint64(count)}}
}

func hostPort(port uint32) *api.EndpointSpec {
	return &api.EndpointSpec{Ports: []*api.PortConfig{
		{Protocol: api.ProtocolTCP, TargetPort: port, PublishedPort: port, PublishMode: api.PublishModeHost},
	}}
}

// service completes a spec with what services of a stack have, and adds the service.
func (c *cluster) service(name string, spec *api.ServiceSpec) *api.Service {
	spec.Annotations = api.Annotations{Name: name, Labels: map[string]string{"com.docker.stack.namespace": name}}
	spec.Task.Networks = []*api.NetworkAttachmentConfig{{Target: c.network.ID, Aliases: []string{name}}}
	spec.Task.Restart = &api.RestartPolicy{Condition: api.RestartOnAny, Delay: gogotypes.DurationProto(0)}
	container := spec.Task.GetContainer()
	if container == nil {
		container = &api.ContainerSpec{}
		spec.Task.Runtime = &api.TaskSpec_Container{Container: container}
	}
	container.Image = "registry.example.com/" + name + ":1.4.2@sha256:9b7d1c2c0b3f0fd2c4b1d3fb2f1bb04d3f8a8a0f5c5e6d7e8f90123456789abc"
	container.Labels = map[string]string{"com.docker.stack.namespace": name}
	for i := range 10 {
		container.Env = append(container.Env, fmt.Sprintf("SETTING_%d=value-of-%s", i, name))
	}
	container.Mounts = append(container.Mounts, api.Mount{Type: api.MountTypeBind, Source: "/etc/" + name, Target: "/etc/app", ReadOnly: true})
	container.Healthcheck = &api.HealthConfig{Test: []string{"CMD", "/bin/check"}, Interval: gogotypes.DurationProto(30 * time.Second), Retries: 3}
	if spec.Task.Resources == nil {
		spec.Task.Resources = reserve(0.2, 512*units.MiB)
	}
	if spec.Task.Placement == nil {
		spec.Task.Placement = &api.Placement{Preferences: []*api.PlacementPreference{{
			Preference: &api.PlacementPreference_Spread{Spread: &api.SpreadOver{SpreadDescriptor: "node.labels.zone"}},
		}}}
	}
	s := &api.Service{ID: c.id(), Meta: c.meta(), Spec: *spec, SpecVersion: &api.Version{Index: 1}}
	if spec.Endpoint != nil {
		s.Endpoint = &api.Endpoint{Spec: spec.Endpoint, Ports: spec.Endpoint.Ports}
	}
	c.services = append(c.services, s)
	return s
}

func reserve(cpus float64, memory int64) *api.ResourceRequirements {
	return &api.ResourceRequirements{
		Reservations: &api.Resources{NanoCPUs: int64(cpus * 1e9), MemoryBytes: memory},
		Limits:       &api.Resources{NanoCPUs: int64(2 * cpus * 1e9), MemoryBytes: 2 * memory},
	}
}

// task adds a pending task of a service as the allocator leaves it.
func (c *cluster) task(s *api.Service, slot int) *api.Task {
	t := &api.Task{
		ID: c.id(), Meta: c.meta(), ServiceID: s.ID, Slot: uint64(slot), Spec: *s.Spec.Task.Copy(),
		SpecVersion: &api.Version{Index: 1}, ServiceAnnotations: *s.Spec.Annotations.Copy(), DesiredState: api.TaskStateRunning,
		Endpoint: s.Endpoint.Copy(),
		Status:   api.TaskStatus{Timestamp: c.stamp(), State: api.TaskStatePending, Message: "pending task scheduling"},
		Networks: []*api.NetworkAttachment{{Network: c.network, Addresses: []string{fmt.Sprintf("10.%d.%d.%d/8", len(c.tasks)>>16, len(c.tasks)>>8&255, len(c.tasks)&255)}}},
	}
	c.tasks = append(c.tasks, t)
	return t
}

// run adds a task that runs on a node.
func (c *cluster) run(s *api.Service, slot int, n *api.Node) {
	t := c.task(s, slot)
	t.NodeID = n.ID
	t.Status = running(c.stamp(), n.ID, c.id()+c.id())
}

func running(at *gogotypes.Timestamp, node, container string) api.TaskStatus {
	return api.TaskStatus{
		Timestamp: at, State: api.TaskStateRunning, Message: "started", AppliedBy: node, AppliedAt: at,
		RuntimeStatus: &api.TaskStatus_Container{Container: &api.ContainerStatus{ContainerID: container, PID: 4711}},
	}
}

// seed makes a swarmkit store that holds the swarm.
func (c *cluster) seed() (*store.MemoryStore, error) {
	seeded := store.NewMemoryStore(nil)
	err := seeded.Update(func(tx store.Tx) error {
		swarm := &api.Cluster{ID: clusterID, Spec: api.ClusterSpec{
			Annotations:   api.Annotations{Name: store.DefaultClusterName},
			Orchestration: api.OrchestrationConfig{TaskHistoryRetentionLimit: 5},
		}}
		if err := store.CreateCluster(tx, swarm); err != nil {
			return fmt.Errorf("create the cluster: %w", err)
		}
		if err := store.CreateNetwork(tx, c.network); err != nil {
			return fmt.Errorf("create the network: %w", err)
		}
		for _, n := range c.nodes {
			if err := store.CreateNode(tx, n); err != nil {
				return fmt.Errorf("create %s: %w", n.Description.Hostname, err)
			}
		}
		for _, s := range c.services {
			if err := store.CreateService(tx, s); err != nil {
				return fmt.Errorf("create service %s: %w", s.Spec.Annotations.Name, err)
			}
		}
		for _, t := range c.tasks {
			if err := store.CreateTask(tx, t); err != nil {
				return fmt.Errorf("create a task of %s: %w", t.ServiceAnnotations.Name, err)
			}
		}
		return nil
	})
	return seeded, err
}
