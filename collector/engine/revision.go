package engine

import (
	"cmp"
	"slices"

	"github.com/gogo/protobuf/proto"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"
)

// The Engine API hides which version of its service's spec a task was made from. These stand for it: every service has
// currentSpec, and previousSpec for its previous one; a task has the one whose spec it runs, or olderSpec.
const (
	olderSpec uint64 = iota
	previousSpec
	currentSpec
)

// revisions tells of a service's tasks which spec they were made from, on whole specs, as swarmkit does where versions
// differ (manager/orchestrator, IsTaskDirty). It fills what else the API hides and follows from it.
type revisions struct {
	service           *api.Service
	current, previous *api.TaskSpec
}

// revisionsOf gives the service its synthetic versions.
func revisionsOf(service *api.Service) *revisions {
	service.SpecVersion = &api.Version{Index: currentSpec}
	r := &revisions{service: service, current: interpolated(&service.Spec.Task)}
	if service.PreviousSpec != nil {
		service.PreviousSpecVersion = &api.Version{Index: previousSpec}
		r.previous = interpolated(&service.PreviousSpec.Task)
	}
	return r
}

// interpolated fills in defaults: docker service inspect shows them for the current spec, tasks and previous specs go
// without. Credentials of registries are never shown, and so never compared.
func interpolated(spec *api.TaskSpec) *api.TaskSpec {
	return &defaults.InterpolateService(&api.ServiceSpec{Task: *spec}).Task
}

// mark fills the task's SpecVersion, ServiceAnnotations and Endpoint.
func (r *revisions) mark(task *api.Task) {
	version := r.of(task)
	task.SpecVersion = &api.Version{Index: version}
	task.ServiceAnnotations = r.service.Spec.Annotations
	task.Endpoint = &api.Endpoint{}
	task.Endpoint.Spec = r.service.Spec.Endpoint
	if version == previousSpec {
		task.Endpoint.Spec = r.service.PreviousSpec.Endpoint
	}
	if task.Status.State > api.TaskStateNew { // before that the allocator has not given it any
		task.Endpoint.Ports = r.ports(task, version)
	}
}

func (r *revisions) of(task *api.Task) uint64 {
	spec := interpolated(&task.Spec)
	current := proto.Equal(spec, r.current)
	previous := r.previous != nil && proto.Equal(spec, r.previous)
	switch {
	case current && previous && r.endpointChanged() && r.beforeChange(task):
		return previousSpec
	case current:
		return currentSpec
	case previous:
		return previousSpec
	}
	return olderSpec
}

// endpointChanged: other published ports make new tasks too, though the spec of the task is the same.
func (r *revisions) endpointChanged() bool {
	return !proto.Equal(r.service.Spec.Endpoint, r.service.PreviousSpec.Endpoint)
}

// beforeChange tells whether a task is from before its service's published ports changed: by the ports it holds, else
// by its age.
func (r *revisions) beforeChange(task *api.Task) bool {
	if held := heldPorts(task); len(held) > 0 {
		byNow := slices.Equal(held, hostPorts(specPorts(&r.service.Spec)))
		byBefore := slices.Equal(held, hostPorts(specPorts(r.service.PreviousSpec)))
		if byNow != byBefore {
			return byBefore
		}
	}
	changed := r.service.Meta.UpdatedAt
	if u := r.service.UpdateStatus; u != nil && u.StartedAt != nil {
		changed = u.StartedAt
	}
	return task.Meta.CreatedAt.Compare(changed) < 0
}

// ports returns those the task was given: its service's, unless it runs and its engine says that it holds others.
func (r *revisions) ports(task *api.Task, version uint64) []*api.PortConfig {
	var ports []*api.PortConfig
	if version == previousSpec && r.endpointChanged() {
		ports = specPorts(r.service.PreviousSpec)
	} else if r.service.Endpoint != nil {
		ports = r.service.Endpoint.Ports
	}
	held, given := heldPorts(task), hostPorts(ports)
	lacks := func(p hostPort) bool { return !slices.Contains(held, p) }
	if len(held) == 0 || (!slices.ContainsFunc(given, lacks) && (version != olderSpec || len(held) == len(given))) {
		return ports // what is held beyond them its engine picked, and the scheduler does not count
	}
	var taken []*api.PortConfig
	for _, p := range held {
		taken = append(taken, &api.PortConfig{
			Protocol: p.protocol, TargetPort: p.target, PublishedPort: p.published, PublishMode: api.PublishModeHost,
		})
	}
	return taken
}

func specPorts(spec *api.ServiceSpec) []*api.PortConfig {
	if spec.Endpoint == nil {
		return nil
	}
	return spec.Endpoint.Ports
}

// heldPorts returns the host ports of a running task as its engine tells them.
func heldPorts(task *api.Task) []hostPort {
	if task.Status.State != api.TaskStateRunning || task.Status.PortStatus == nil {
		return nil
	}
	return hostPorts(task.Status.PortStatus.Ports)
}

type hostPort struct {
	protocol          api.PortConfig_Protocol
	target, published uint32
}

// hostPorts returns the fixed host-mode ports, once each and in order: engines list one for each address family.
func hostPorts(ports []*api.PortConfig) []hostPort {
	var fixed []hostPort
	for _, p := range ports {
		if p.PublishMode == api.PublishModeHost && p.PublishedPort != 0 {
			fixed = append(fixed, hostPort{protocol: p.Protocol, target: p.TargetPort, published: p.PublishedPort})
		}
	}
	slices.SortFunc(fixed, func(a, b hostPort) int {
		return cmp.Or(int(a.protocol)-int(b.protocol), int(a.target)-int(b.target), int(a.published)-int(b.published))
	})
	return slices.Compact(fixed)
}
