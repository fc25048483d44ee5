package engine

import (
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/daemon/cluster/convert"
	"github.com/moby/swarmkit/v2/api"
)

// serviceSpecOf converts a spec by Docker's own code. That code refuses what a newer engine may know and it does not,
// such as another type of mount: then what no filter of the scheduler looks at is left out.
func serviceSpecOf(s swarm.ServiceSpec) (api.ServiceSpec, error) {
	s.TaskTemplate = withoutNil(s.TaskTemplate)
	spec, err := convert.ServiceSpecToGRPC(s)
	if err != nil {
		if spec, err = convert.ServiceSpecToGRPC(reduced(s)); err != nil {
			return spec, err
		}
	}
	spec.Annotations.Name = s.Name // a spec without a name was given one by chance
	return spec, nil
}

func taskSpecOf(t swarm.TaskSpec) (api.TaskSpec, error) {
	attachment := t.NetworkAttachmentSpec
	if attachment != nil {
		t.ContainerSpec, t.Runtime = &swarm.ContainerSpec{}, swarm.RuntimeContainer
	}
	if t.PluginSpec != nil {
		t.Runtime = swarm.RuntimePlugin // tasks do not say so, services do
	}
	spec, err := serviceSpecOf(swarm.ServiceSpec{Annotations: swarm.Annotations{Name: "task"}, TaskTemplate: t})
	if err != nil {
		return api.TaskSpec{}, err
	}
	if attachment != nil {
		spec.Task.Runtime = &api.TaskSpec_Attachment{Attachment: &api.NetworkAttachmentSpec{ContainerID: attachment.ContainerID}}
	}
	return spec.Task, nil
}

// reduced keeps what the scheduler and our rules read of a spec, in words that every version of Docker knows.
func reduced(s swarm.ServiceSpec) swarm.ServiceSpec {
	s.UpdateConfig, s.RollbackConfig = knownUpdate(s.UpdateConfig), knownUpdate(s.RollbackConfig)
	if e := s.EndpointSpec; e != nil && e.Mode != swarm.ResolutionModeDNSRR {
		s.EndpointSpec = &swarm.EndpointSpec{Mode: swarm.ResolutionModeVIP, Ports: e.Ports}
	}
	if r := s.TaskTemplate.RestartPolicy; r != nil {
		policy := *r
		if policy.Condition != swarm.RestartPolicyConditionNone && policy.Condition != swarm.RestartPolicyConditionOnFailure {
			policy.Condition = swarm.RestartPolicyConditionAny
		}
		s.TaskTemplate.RestartPolicy = &policy
	}
	if c := s.TaskTemplate.ContainerSpec; c != nil {
		s.TaskTemplate.Runtime = swarm.RuntimeContainer
		s.TaskTemplate.ContainerSpec = &swarm.ContainerSpec{
			Image: c.Image, Command: c.Command, Args: c.Args, Env: c.Env,
			StopGracePeriod: c.StopGracePeriod, Healthcheck: c.Healthcheck, Mounts: knownMounts(c.Mounts),
		}
	}
	return s
}

func knownUpdate(u *swarm.UpdateConfig) *swarm.UpdateConfig {
	if u == nil {
		return nil
	}
	update := *u
	if u.FailureAction != swarm.UpdateFailureActionContinue && u.FailureAction != swarm.UpdateFailureActionRollback {
		update.FailureAction = swarm.UpdateFailureActionPause
	}
	if u.Order != swarm.UpdateOrderStartFirst {
		update.Order = swarm.UpdateOrderStopFirst
	}
	return &update
}

// knownMounts drops the mounts of types that swarmkit does not know, and options that no rule reads.
func knownMounts(mounts []mount.Mount) []mount.Mount {
	known := []mount.Type{mount.TypeBind, mount.TypeVolume, mount.TypeTmpfs, mount.TypeNamedPipe, mount.TypeCluster}
	var kept []mount.Mount
	for _, m := range mounts {
		if slices.Contains(known, m.Type) {
			kept = append(kept, mount.Mount{
				Type: m.Type, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly, VolumeOptions: m.VolumeOptions,
			})
		}
	}
	return kept
}

// withoutNil drops the nil elements of lists, which no engine sends and which Docker's conversion would follow.
func withoutNil(t swarm.TaskSpec) swarm.TaskSpec {
	if t.ContainerSpec != nil {
		c := *t.ContainerSpec
		c.Secrets, c.Configs = present(c.Secrets), present(c.Configs)
		c.Ulimits = present[container.Ulimit](c.Ulimits)
		t.ContainerSpec = &c
	}
	if t.PluginSpec != nil {
		p := *t.PluginSpec
		p.Privileges = present(p.Privileges)
		t.PluginSpec = &p
	}
	if r := t.Resources; r != nil && r.Reservations != nil {
		reservations := *r.Reservations
		reservations.GenericResources = withoutEmpty(reservations.GenericResources)
		t.Resources = &swarm.ResourceRequirements{Limits: r.Limits, Reservations: &reservations}
	}
	return t
}

func present[T any](list []*T) []*T {
	if !slices.Contains(list, nil) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(element *T) bool { return element == nil })
}

func withoutEmpty(resources []swarm.GenericResource) []swarm.GenericResource {
	empty := func(r swarm.GenericResource) bool { return r.NamedResourceSpec == nil && r.DiscreteResourceSpec == nil }
	if !slices.ContainsFunc(resources, empty) {
		return resources
	}
	return slices.DeleteFunc(slices.Clone(resources), empty)
}

func mountsCluster(t swarm.TaskSpec) bool {
	return t.ContainerSpec != nil &&
		slices.ContainsFunc(t.ContainerSpec.Mounts, func(m mount.Mount) bool { return m.Type == mount.TypeCluster })
}
