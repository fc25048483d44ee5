package oracle

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"pgregory.net/rapid"
)

// drawService adds a service and its tasks; of a service that was removed only the tasks are there.
func (c *Cluster) drawService(t *rapid.T, i int, claims *claims) {
	id := fmt.Sprintf("service-%d", i)
	s := &api.Service{
		ID:   id,
		Meta: api.Meta{CreatedAt: minutesAgo(400), UpdatedAt: minutesAgo(300)},
		Spec: api.ServiceSpec{Annotations: api.Annotations{Name: "app_" + id}, Task: drawTaskSpec(t)},
	}
	drawMode(t, &s.Spec)
	c.drawNetworked(t, &s.Spec)
	if ports := drawPorts(t); len(ports) > 0 {
		s.Spec.Endpoint = &api.EndpointSpec{Ports: ports}
		s.Endpoint = &api.Endpoint{Spec: s.Spec.Endpoint, Ports: ports}
	}
	if !oneIn(t, "unversioned", 4) {
		s.SpecVersion = &api.Version{Index: 20}
	}
	if s.SpecVersion != nil && oneIn(t, "updated", 3) {
		s.PreviousSpec, s.PreviousSpecVersion = s.Spec.Copy(), &api.Version{Index: 10}
		s.PreviousSpec.Task = drawTaskSpec(t)
		s.UpdateStatus = &api.UpdateStatus{State: pick(t, "update", api.UpdateStatus_UPDATING, api.UpdateStatus_COMPLETED, api.UpdateStatus_PAUSED)}
	}
	c.drawTasks(t, s, claims)
	if !oneIn(t, "removed", 10) {
		c.Services = append(c.Services, s)
	}
}

func drawMode(t *rapid.T, spec *api.ServiceSpec) {
	n := rapid.Uint64Range(1, 6).Draw(t, "replicas")
	switch pick(t, "mode", "replicated", "global", "replicated job", "global job") {
	case "replicated":
		spec.Mode = &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: n}}
	case "global":
		spec.Mode = &api.ServiceSpec_Global{Global: &api.GlobalService{}}
	case "replicated job":
		spec.Mode = &api.ServiceSpec_ReplicatedJob{ReplicatedJob: &api.ReplicatedJob{TotalCompletions: n, MaxConcurrent: n}}
	case "global job":
		spec.Mode = &api.ServiceSpec_GlobalJob{GlobalJob: &api.GlobalJob{}}
	}
}

// isGlobal tells whether the orchestrator chooses the node of each task.
func isGlobal(s *api.Service) bool { return s.Spec.GetGlobal() != nil || s.Spec.GetGlobalJob() != nil }

// isJob tells whether tasks should complete.
func isJob(s *api.Service) bool {
	return s.Spec.GetReplicatedJob() != nil || s.Spec.GetGlobalJob() != nil
}

func drawTaskSpec(t *rapid.T) api.TaskSpec {
	container := &api.ContainerSpec{Image: "demo"}
	spec := api.TaskSpec{Runtime: &api.TaskSpec_Container{Container: container}}
	if !oneIn(t, "no placement", 4) {
		spec.Placement = drawPlacement(t)
	}
	if oneIn(t, "reserves", 3) {
		spec.Resources = &api.ResourceRequirements{Reservations: drawReservations(t)}
	}
	if oneIn(t, "logs", 5) {
		spec.LogDriver = &api.Driver{Name: pick(t, "log driver", "", "none", "json-file", "splunk", "fluentd")}
	}
	if oneIn(t, "mounting", 3) {
		container.Mounts = drawMounts(t)
	}
	return spec
}

func drawPlacement(t *rapid.T) *api.Placement {
	p := &api.Placement{}
	if oneIn(t, "limited", 3) {
		p.MaxReplicas = rapid.Uint64Range(1, 3).Draw(t, "max replicas")
	}
	if oneIn(t, "constrained", 3) {
		p.Constraints = rapid.SliceOfN(rapid.SampledFrom(constraints), 1, 2).Draw(t, "constraints")
	}
	if oneIn(t, "platforms", 4) {
		for range rapid.IntRange(1, 2).Draw(t, "number of platforms") {
			p.Platforms = append(p.Platforms, &api.Platform{
				OS:           pick(t, "image os", "linux", "windows", ""),
				Architecture: pick(t, "image arch", "amd64", "arm64", "x86_64", "aarch64", "arm", ""),
			})
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "preferences") {
		p.Preferences = append(p.Preferences, &api.PlacementPreference{Preference: &api.PlacementPreference_Spread{
			Spread: &api.SpreadOver{SpreadDescriptor: pick(t, "spread", "node.labels.rack", "engine.labels.env", "NODE.LABELS.Env", "node.id")},
		}})
	}
	return p
}

// constraints are of every form: met by some nodes, by none, and such that cannot be parsed.
var constraints = []string{
	"node.labels.env==prod", "node.labels.env!=prod", "node.labels.Env == prod", "Node.Labels.rack==R1", "node.labels.none!=x", "node.labels.none==",
	"engine.labels.rack==r1", "engine.labels.env != prod", "engine.labels.none==x", "Node.Role==worker", "node.role!=manager", "node.role==MANAGER",
	"node.hostname==WEB-1", "node.hostname!=web-1", "node.id==node-1", "node.id!=node-0",
	"node.ip==10.0.0.0/24", "node.ip!=10.0.0.1", "node.ip==2001:db8::/32", "node.ip!=2001:db8::7", "node.ip==nonsense", "node.ip!=10.0.0.0/33",
	"node.platform.arch==x86_64", "node.platform.arch==amd64", "node.platform.arch!=aarch64", "node.platform.os==linux", "node.platform.os!=windows",
	"rack==r1", "node.label.env==prod", "node.labels.==x", "node.labels.env=prod", "not a constraint", "node.labels.env==p*", "node.labels.env==a,b", "==", "",
}

// drawReservations draws amounts that some nodes have. A kind is asked for once; a request by name is one that swarmkit
// lets through and never grants.
func drawReservations(t *rapid.T) *api.Resources {
	r := &api.Resources{
		NanoCPUs:    pick[int64](t, "asked cpus", 0, 1e8, 1e9, 4e9),
		MemoryBytes: pick[int64](t, "asked memory", 0, 1<<20, 1<<30, 1<<33),
	}
	if oneIn(t, "asks gpu", 3) {
		r.Generic = append(r.Generic, genericresource.NewDiscrete(pick(t, "asked kind", "gpu", "gpu", "GPU", "fpga"), rapid.Int64Range(1, 4).Draw(t, "asked gpus")))
	}
	if oneIn(t, "asks ssd", 4) {
		r.Generic = append(r.Generic, genericresource.NewDiscrete("ssd", rapid.Int64Range(0, 3).Draw(t, "asked ssds")))
	}
	if oneIn(t, "asks by name", 12) {
		r.Generic = append(r.Generic, genericresource.NewString("gpu", "a"))
	}
	return r
}

func drawPorts(t *rapid.T) []*api.PortConfig {
	var ports []*api.PortConfig
	if !oneIn(t, "publishing", 2) {
		return nil
	}
	for range rapid.IntRange(1, 2).Draw(t, "ports") {
		ports = append(ports, &api.PortConfig{
			Protocol:      pick(t, "protocol", api.ProtocolTCP, api.ProtocolUDP, api.ProtocolSCTP),
			PublishMode:   pick(t, "publish mode", api.PublishModeHost, api.PublishModeHost, api.PublishModeIngress),
			PublishedPort: pick[uint32](t, "published", 80, 443, 0),
			TargetPort:    80,
		})
	}
	return ports
}

// drawNetworks draws networks with drivers that some nodes have; one that was never allocated has no driver.
func drawNetworks(t *rapid.T) []*api.Network {
	var networks []*api.Network
	for i := range rapid.IntRange(0, 3).Draw(t, "networks") {
		n := &api.Network{ID: fmt.Sprintf("network-%d", i), Spec: api.NetworkSpec{Annotations: api.Annotations{Name: fmt.Sprintf("net-%d", i)}}}
		if driver := pick(t, "network driver", "overlay", "overlay", "weave", "weave:2.0", "", "none"); driver != "none" {
			n.DriverState = &api.Driver{Name: driver}
		}
		networks = append(networks, n)
	}
	return networks
}

func (c *Cluster) drawNetworked(t *rapid.T, spec *api.ServiceSpec) {
	for _, n := range c.Networks {
		if oneIn(t, "on "+n.ID, 4) {
			spec.Networks = append(spec.Networks, &api.NetworkAttachmentConfig{Target: n.ID})
		}
	}
}
