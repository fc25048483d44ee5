package dockercli

import (
	"context"
	"strings"

	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/daemon/cluster/convert"
	"github.com/gogo/protobuf/proto"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
)

// unnamed is the name of a service that is created without one; Docker would make one up.
const unnamed = "unnamed"

// ServiceInspectWithRaw finds a service by id, name or the beginning of its id.
func (e *engine) ServiceInspectWithRaw(ctx context.Context, input string, _ swarm.ServiceInspectOptions) (swarm.Service, []byte, error) {
	s, err := e.service(ctx, input)
	if err != nil {
		return swarm.Service{}, nil, err
	}
	converted, err := convert.ServiceFromGRPC(*s)
	if err != nil {
		return swarm.Service{}, nil, said(err)
	}
	return converted, nil, nil
}

func (e *engine) service(ctx context.Context, input string) (*api.Service, error) {
	answer, err := e.managers.ListServices(ctx, &api.ListServicesRequest{})
	if err != nil {
		return nil, said(err)
	}
	return found("service", input, answer.Services, func(s *api.Service) string { return s.ID }, nameOf)
}

func nameOf(s *api.Service) string { return s.Spec.Annotations.Name }

// ServiceList lists the services with the labels asked for.
func (e *engine) ServiceList(ctx context.Context, options swarm.ServiceListOptions) ([]swarm.Service, error) {
	answer, err := e.managers.ListServices(ctx, &api.ListServicesRequest{})
	if err != nil {
		return nil, said(err)
	}
	var listed []swarm.Service
	for _, s := range answer.Services {
		if !options.Filters.MatchKVList("label", s.Spec.Annotations.Labels) {
			continue
		}
		converted, err := convert.ServiceFromGRPC(*s)
		if err != nil {
			return nil, said(err)
		}
		listed = append(listed, converted)
	}
	return listed, nil
}

// ServiceCreate keeps a service that the managers would accept. The registry is not asked for its image.
func (e *engine) ServiceCreate(ctx context.Context, spec swarm.ServiceSpec, options swarm.ServiceCreateOptions) (swarm.ServiceCreateResponse, error) {
	if spec.Name == "" {
		spec.Name = unnamed
	}
	converted, err := e.accept(ctx, spec)
	if err != nil {
		return swarm.ServiceCreateResponse{}, err
	}
	answer, err := e.managers.CreateService(ctx, &api.CreateServiceRequest{Spec: converted})
	if err != nil {
		return swarm.ServiceCreateResponse{}, refused(err)
	}
	if options.QueryRegistry {
		e.note("the registry is not asked for %s: whether it exists, and for which platforms", spec.TaskTemplate.ContainerSpec.Image)
	}
	e.change.Services = append(e.change.Services, whatif.ServiceChange{ID: answer.Service.ID, Spec: &answer.Service.Copy().Spec, JobStatus: answer.Service.JobStatus, New: true})
	return swarm.ServiceCreateResponse{ID: answer.Service.ID}, nil
}

// ServiceUpdate keeps a spec that the managers would accept.
func (e *engine) ServiceUpdate(ctx context.Context, id string, version swarm.Version, spec swarm.ServiceSpec, options swarm.ServiceUpdateOptions) (swarm.ServiceUpdateResponse, error) {
	before, err := e.service(ctx, id)
	if err != nil {
		return swarm.ServiceUpdateResponse{}, err
	}
	before = before.Copy()
	e.sameImage(before, &spec, options.QueryRegistry)
	converted, err := e.accept(ctx, spec)
	if err != nil {
		return swarm.ServiceUpdateResponse{}, err
	}
	request := &api.UpdateServiceRequest{ServiceID: before.ID, ServiceVersion: &api.Version{Index: version.Index}, Spec: converted}
	if options.Rollback == "previous" {
		request.Rollback = api.UpdateServiceRequest_PREVIOUS
	}
	answer, err := e.managers.UpdateService(ctx, request)
	if err != nil {
		return swarm.ServiceUpdateResponse{}, refused(err)
	}
	after := answer.Service.Copy()
	change := whatif.ServiceChange{ID: before.ID, Spec: &after.Spec, JobStatus: after.JobStatus}
	if request.Rollback == api.UpdateServiceRequest_PREVIOUS {
		change.Rollback = true // the managers' own object: task by task they compare with it
	} else if err := e.compare(ctx, e.original(before), &change); err != nil {
		return swarm.ServiceUpdateResponse{}, err
	}
	e.update(change)
	return swarm.ServiceUpdateResponse{}, nil
}

// original is the service as the command found it: what an update of the command's own left is in the words of the conversions.
func (e *engine) original(s *api.Service) *api.Service {
	if before := e.state.Service(s.ID); before != nil {
		return before.Copy()
	}
	return s
}

// update keeps the last of several updates of a service: scale sends them one right after the other.
func (e *engine) update(change whatif.ServiceChange) {
	for i, c := range e.change.Services {
		if c.ID == change.ID {
			e.change.Services[i] = change
			return
		}
	}
	e.change.Services = append(e.change.Services, change)
}

// ServiceRemove takes a service out, with its tasks: stack deploy --prune.
func (e *engine) ServiceRemove(ctx context.Context, id string) error {
	if _, err := e.managers.RemoveService(ctx, &api.RemoveServiceRequest{ServiceID: id}); err != nil {
		return refused(err)
	}
	e.change.Removed = append(e.change.Removed, id)
	return nil
}

// accept converts a spec as the engine does before the managers see it (daemon/cluster.Cluster.CreateService).
func (e *engine) accept(ctx context.Context, spec swarm.ServiceSpec) (*api.ServiceSpec, error) {
	networks := spec.TaskTemplate.Networks
	if len(networks) == 0 {
		//lint:ignore SA1019 services of old have their networks there
		networks = spec.Networks
	}
	for i, n := range networks {
		network, err := e.network(ctx, n.Target)
		if err != nil {
			return nil, err
		}
		networks[i].Target = network.ID
	}
	converted, err := convert.ServiceSpecToGRPC(spec)
	if err != nil {
		return nil, said(err)
	}
	if err := e.managers.reference(&converted); err != nil {
		return nil, err
	}
	return &converted, nil
}

// sameImage takes a tag for the image that runs under it, where it does: to which one the registry would resolve it now is
// not looked up.
func (e *engine) sameImage(before *api.Service, spec *swarm.ServiceSpec, resolves bool) {
	container, running := spec.TaskTemplate.ContainerSpec, before.Spec.Task.GetContainer()
	if container == nil || running == nil {
		return
	}
	tag, _, pinned := strings.Cut(running.Image, "@")
	switch {
	case container.Image == running.Image:
		return
	case pinned && container.Image == tag:
		e.note("the registry is not asked for %s: it is taken for the image that runs now", container.Image)
		container.Image = running.Image
		if p := before.Spec.Task.Placement; p != nil && spec.TaskTemplate.Placement != nil && e.whole {
			for _, platform := range p.Platforms {
				spec.TaskTemplate.Placement.Platforms = append(spec.TaskTemplate.Placement.Platforms,
					swarm.Platform{Architecture: platform.Architecture, OS: platform.OS})
			}
		}
	case resolves:
		e.note("the registry is not asked for %s: whether it exists, and for which platforms", container.Image)
	}
}

// compare tells whether the managers would make the tasks anew. What the conversions alone make different counts for
// nothing; a spec that comes whole from a file is compared by what the state keeps.
func (e *engine) compare(ctx context.Context, before *api.Service, change *whatif.ServiceChange) error {
	same, err := e.converted(ctx, before)
	if err != nil {
		return err
	}
	old, now := same.Task, change.Spec.Task
	if e.whole {
		e.note("of %s, what the state does not keep is taken as unchanged: values of the environment, commands, secrets, configs, labels", nameOf(before))
		if old, err = e.kept(before, *same); err != nil {
			return err
		}
		if now, err = e.kept(before, *change.Spec); err != nil {
			return err
		}
	}
	placement := now.Placement
	now.Placement = old.Placement
	if change.Restarts = !proto.Equal(&old, &now); change.Restarts {
		return nil
	}
	// The managers' own object, so that tasks are compared with what they were made from. Where only the placement changed
	// they decide task by task (manager/orchestrator.IsTaskDirty).
	change.Spec.Task = before.Spec.Task
	if !proto.Equal(orEmpty(old.Placement), orEmpty(placement)) {
		change.Spec.Task.Placement = placement
	}
	return nil
}

// orEmpty lets no placement be one that asks for nothing.
func orEmpty(p *api.Placement) *api.Placement {
	if p == nil {
		return &api.Placement{}
	}
	return p
}

// converted is the spec as it comes back from a command that changes nothing.
func (e *engine) converted(ctx context.Context, s *api.Service) (*api.ServiceSpec, error) {
	shown, err := convert.ServiceFromGRPC(*s)
	if err != nil {
		return nil, said(err)
	}
	return e.accept(ctx, shown.Spec)
}

// kept is the task's part of a spec, without what the state does not keep.
func (e *engine) kept(s *api.Service, spec api.ServiceSpec) (api.TaskSpec, error) {
	service := s.Copy()
	service.Spec = spec
	state, err := e.state.With([]any{service})
	if err != nil {
		return api.TaskSpec{}, err
	}
	return state.Service(s.ID).Spec.Task, nil
}
