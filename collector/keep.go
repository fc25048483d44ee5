package collector

import (
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"
)

// Differs stands in a previous spec for a value that is never kept but was another one than today's.
const Differs = "(differs)"

// labelPrefixes are the service labels that are read: the stack's name, and ours. All others stay out, since people
// put passwords into labels.
var labelPrefixes = []string{"com.docker.stack.namespace", "swarmdiag."}

// healthTests are the kinds of health check; what stands behind them is a command, which is never kept.
var healthTests = []string{"NONE", "CMD", "CMD-SHELL"}

// keep copies what some rule reads of objects; whatever else they hold ends here. The copies share nothing with them. Objects
// of other kinds than a State has are passed over.
func (m models) keep(objects []any) []any {
	kept := make([]any, 0, len(objects))
	for _, object := range objects {
		switch o := object.(type) {
		case *api.Node:
			kept = append(kept, keepNode(o).Copy())
		case *api.Service:
			kept = append(kept, keepService(o).Copy())
		case *api.Task:
			kept = append(kept, m.task(o))
		case *api.Network:
			kept = append(kept, keepNetwork(o).Copy())
		case *api.Volume:
			kept = append(kept, keepVolume(o).Copy())
		}
	}
	return kept
}

func keepNode(n *api.Node) *api.Node {
	kept := &api.Node{
		ID:   n.ID,
		Meta: n.Meta,
		Role: n.Role,
		Spec: api.NodeSpec{
			Annotations:  api.Annotations{Name: n.Spec.Annotations.Name, Labels: n.Spec.Annotations.Labels},
			DesiredRole:  n.Spec.DesiredRole,
			Availability: n.Spec.Availability,
		},
		Status: api.NodeStatus{State: n.Status.State, Message: n.Status.Message, Addr: n.Status.Addr},
	}
	if m := n.ManagerStatus; m != nil {
		kept.ManagerStatus = &api.ManagerStatus{Leader: m.Leader, Reachability: m.Reachability, Addr: m.Addr}
	}
	if d := n.Description; d != nil {
		kept.Description = &api.NodeDescription{Hostname: d.Hostname, Platform: d.Platform, Resources: d.Resources}
		if e := d.Engine; e != nil {
			kept.Description.Engine = &api.EngineDescription{EngineVersion: e.EngineVersion, Labels: e.Labels, Plugins: e.Plugins}
		}
		for _, csi := range d.CSIInfo {
			kept.Description.CSIInfo = append(kept.Description.CSIInfo,
				&api.NodeCSIInfo{PluginName: csi.PluginName, AccessibleTopology: csi.AccessibleTopology})
		}
	}
	return kept
}

func keepService(s *api.Service) *api.Service {
	kept := &api.Service{
		ID:           s.ID,
		Meta:         s.Meta,
		Spec:         keepServiceSpec(&s.Spec),
		SpecVersion:  s.SpecVersion,
		UpdateStatus: s.UpdateStatus,
		JobStatus:    s.JobStatus,
	}
	if s.PreviousSpec != nil {
		previous := keepServiceSpec(s.PreviousSpec)
		markDifferences(s.Spec.Task.GetContainer(), s.PreviousSpec.Task.GetContainer(), previous.Task.GetContainer())
		kept.PreviousSpec, kept.PreviousSpecVersion = &previous, s.PreviousSpecVersion
	}
	if s.Endpoint != nil {
		kept.Endpoint = &api.Endpoint{Ports: s.Endpoint.Ports}
	}
	return kept
}

func keepServiceSpec(s *api.ServiceSpec) api.ServiceSpec {
	kept := api.ServiceSpec{
		Annotations: api.Annotations{Name: s.Annotations.Name, Labels: keepLabels(s.Annotations.Labels)},
		Task:        keepTaskSpec(&s.Task),
		Mode:        s.Mode,
		Update:      s.Update,
		Rollback:    s.Rollback,
	}
	if s.Endpoint != nil {
		kept.Endpoint = &api.EndpointSpec{Mode: s.Endpoint.Mode, Ports: s.Endpoint.Ports}
	}
	for _, n := range s.Networks {
		kept.Networks = append(kept.Networks, &api.NetworkAttachmentConfig{Target: n.Target})
	}
	return kept
}

func keepTaskSpec(t *api.TaskSpec) api.TaskSpec {
	kept := api.TaskSpec{Restart: t.Restart, Placement: t.Placement, ForceUpdate: t.ForceUpdate}
	if r := t.Resources; r != nil {
		kept.Resources = &api.ResourceRequirements{Reservations: r.Reservations}
		if l := r.Limits; l != nil {
			kept.Resources.Limits = &api.Resources{NanoCPUs: l.NanoCPUs, MemoryBytes: l.MemoryBytes}
		}
	}
	if t.LogDriver != nil {
		kept.LogDriver = &api.Driver{Name: t.LogDriver.Name}
	}
	for _, n := range t.Networks {
		kept.Networks = append(kept.Networks, &api.NetworkAttachmentConfig{Target: n.Target})
	}
	switch r := t.Runtime.(type) {
	case *api.TaskSpec_Container:
		if r.Container != nil {
			kept.Runtime = &api.TaskSpec_Container{Container: keepContainer(r.Container)}
		}
	case *api.TaskSpec_Attachment:
		if r.Attachment != nil {
			kept.Runtime = &api.TaskSpec_Attachment{Attachment: &api.NetworkAttachmentSpec{ContainerID: r.Attachment.ContainerID}}
		}
	case *api.TaskSpec_Generic:
		if r.Generic != nil {
			kept.Runtime = &api.TaskSpec_Generic{Generic: &api.GenericRuntimeSpec{Kind: r.Generic.Kind}}
		}
	}
	return kept
}

func keepContainer(c *api.ContainerSpec) *api.ContainerSpec {
	kept := &api.ContainerSpec{Image: c.Image, StopGracePeriod: c.StopGracePeriod}
	for _, variable := range c.Env {
		name, _, _ := strings.Cut(variable, "=")
		kept.Env = append(kept.Env, strings.Clone(name)) // a part of a string keeps the whole of it in memory
	}
	for _, m := range c.Mounts {
		kept.Mounts = append(kept.Mounts, keepMount(m))
	}
	if h := c.Healthcheck; h != nil {
		kept.Healthcheck = &api.HealthConfig{Interval: h.Interval, Timeout: h.Timeout, Retries: h.Retries, StartPeriod: h.StartPeriod}
		if len(h.Test) > 0 && slices.Contains(healthTests, h.Test[0]) {
			kept.Healthcheck.Test = h.Test[:1]
		}
	}
	return kept
}

func keepMount(m api.Mount) api.Mount {
	kept := api.Mount{Type: m.Type, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly}
	if m.VolumeOptions != nil {
		kept.VolumeOptions = &api.Mount_VolumeOptions{}
		if d := m.VolumeOptions.DriverConfig; d != nil {
			kept.VolumeOptions.DriverConfig = &api.Driver{Name: d.Name}
		}
	}
	return kept
}

// markDifferences notes in a kept previous container which of the things that are never kept have changed since:
// NAME=(differs) for an environment variable, and the same word for the command, its arguments and the
// health check's.
func markDifferences(now, before, kept *api.ContainerSpec) {
	if now == nil || before == nil || kept == nil {
		return
	}
	for i, variable := range before.Env {
		name := kept.Env[i]
		sameName := func(v string) bool { n, _, _ := strings.Cut(v, "="); return n == name }
		if slices.ContainsFunc(now.Env, sameName) && !slices.Contains(now.Env, variable) {
			kept.Env[i] = name + "=" + Differs
		}
	}
	if !slices.Equal(now.Command, before.Command) {
		kept.Command = []string{Differs}
	}
	if !slices.Equal(now.Args, before.Args) {
		kept.Args = []string{Differs}
	}
	if h := before.Healthcheck; h != nil && now.Healthcheck != nil && len(h.Test) > 0 && !slices.Equal(now.Healthcheck.Test, h.Test) {
		kept.Healthcheck.Test = append(kept.Healthcheck.Test, Differs)
	}
}

func keepLabels(labels map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range labels {
		if slices.ContainsFunc(labelPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			kept[name] = value
		}
	}
	return kept
}

func keepTask(t *api.Task) *api.Task {
	kept := &api.Task{
		ID: t.ID, Meta: t.Meta, ServiceID: t.ServiceID, Slot: t.Slot, NodeID: t.NodeID,
		Spec: keepTaskSpec(&t.Spec), SpecVersion: t.SpecVersion, DesiredState: t.DesiredState,
		ServiceAnnotations: api.Annotations{Name: t.ServiceAnnotations.Name},
		Status: api.TaskStatus{
			Timestamp: t.Status.Timestamp, State: t.Status.State, Message: t.Status.Message, Err: t.Status.Err,
			AppliedAt: t.Status.AppliedAt,
		},
		AssignedGenericResources: t.AssignedGenericResources,
		JobIteration:             t.JobIteration,
		Volumes:                  t.Volumes,
	}
	if c := t.Status.GetContainer(); c != nil {
		kept.Status.RuntimeStatus = &api.TaskStatus_Container{Container: &api.ContainerStatus{ContainerID: c.ContainerID, ExitCode: c.ExitCode}}
	}
	if p := t.Status.PortStatus; p != nil && len(p.Ports) > 0 {
		kept.Status.PortStatus = p
	}
	if t.Endpoint != nil {
		kept.Endpoint = &api.Endpoint{Ports: t.Endpoint.Ports}
	}
	for _, n := range t.Networks {
		attachment := &api.NetworkAttachment{Addresses: n.Addresses}
		if n.Network != nil {
			attachment.Network = keepNetwork(n.Network)
		}
		kept.Networks = append(kept.Networks, attachment)
	}
	return kept
}

func keepNetwork(n *api.Network) *api.Network {
	kept := &api.Network{ID: n.ID, Meta: n.Meta, Spec: api.NetworkSpec{Annotations: api.Annotations{Name: n.Spec.Annotations.Name}}}
	if d := n.DriverState; d != nil {
		kept.DriverState = &api.Driver{Name: d.Name}
	}
	return kept
}

func keepVolume(v *api.Volume) *api.Volume {
	kept := &api.Volume{
		ID:   v.ID,
		Meta: v.Meta,
		Spec: api.VolumeSpec{
			Annotations:  api.Annotations{Name: v.Spec.Annotations.Name},
			Group:        v.Spec.Group,
			Availability: v.Spec.Availability,
		},
		PendingDelete: v.PendingDelete,
	}
	if m := v.Spec.AccessMode; m != nil {
		kept.Spec.AccessMode = &api.VolumeAccessMode{Scope: m.Scope, Sharing: m.Sharing}
	}
	if d := v.Spec.Driver; d != nil {
		kept.Spec.Driver = &api.Driver{Name: d.Name}
	}
	if i := v.VolumeInfo; i != nil {
		kept.VolumeInfo = &api.VolumeInfo{VolumeID: i.VolumeID, AccessibleTopology: i.AccessibleTopology}
	}
	for _, p := range v.PublishStatus {
		kept.PublishStatus = append(kept.PublishStatus, &api.VolumePublishStatus{NodeID: p.NodeID, State: p.State, Message: p.Message})
	}
	return kept
}
