package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/daemon/cluster/convert"
	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
)

// This file turns the objects of the Engine API back into swarmkit's: the way back of Docker's daemon/cluster/convert,
// and by its exported functions where there are any.

func nodeOf(n swarm.Node) (*api.Node, error) {
	spec, err := convert.NodeSpecToGRPC(n.Spec)
	if err != nil {
		return nil, fmt.Errorf("convert node %s: %w", n.ID, err)
	}
	spec.Annotations.Labels = orNil(spec.Annotations.Labels)
	node := &api.Node{
		ID: n.ID, Meta: metaOf(n.Meta), Spec: spec, Description: nodeDescriptionOf(n.Description),
		Status: api.NodeStatus{
			State:   api.NodeStatus_State(api.NodeStatus_State_value[strings.ToUpper(string(n.Status.State))]),
			Message: n.Status.Message,
			Addr:    n.Status.Addr,
		},
	}
	if m := n.ManagerStatus; m != nil {
		reachability := api.RaftMemberStatus_Reachability_value[strings.ToUpper(string(m.Reachability))]
		node.Role = api.NodeRoleManager
		node.ManagerStatus = &api.ManagerStatus{
			Leader: m.Leader, Addr: m.Addr, Reachability: api.RaftMemberStatus_Reachability(reachability),
		}
	}
	return node, nil
}

// nodeDescriptionOf returns nil for a node that has never told anything of itself.
func nodeDescriptionOf(d swarm.NodeDescription) *api.NodeDescription {
	if d.Hostname == "" && d.Platform == (swarm.Platform{}) && d.Engine.EngineVersion == "" {
		return nil
	}
	description := &api.NodeDescription{
		Hostname: d.Hostname,
		Platform: &api.Platform{Architecture: d.Platform.Architecture, OS: d.Platform.OS},
		Resources: &api.Resources{
			NanoCPUs: d.Resources.NanoCPUs, MemoryBytes: d.Resources.MemoryBytes, Generic: genericOf(d.Resources.GenericResources),
		},
		Engine: &api.EngineDescription{EngineVersion: d.Engine.EngineVersion, Labels: orNil(d.Engine.Labels)},
	}
	for _, p := range d.Engine.Plugins {
		description.Engine.Plugins = append(description.Engine.Plugins, api.PluginDescription{Type: p.Type, Name: p.Name})
	}
	for _, c := range d.CSIInfo {
		csi := &api.NodeCSIInfo{PluginName: c.PluginName, NodeID: c.NodeID, MaxVolumesPerNode: c.MaxVolumesPerNode}
		if c.AccessibleTopology != nil {
			csi.AccessibleTopology = &api.Topology{Segments: c.AccessibleTopology.Segments}
		}
		description.CSIInfo = append(description.CSIInfo, csi)
	}
	return description
}

// serviceOf leaves the versions of the specs out: see revisions.
func serviceOf(s swarm.Service) (*api.Service, error) {
	spec, err := serviceSpecOf(s.Spec)
	if err != nil {
		return nil, fmt.Errorf("convert service %s: %w", s.ID, err)
	}
	service := &api.Service{ID: s.ID, Meta: metaOf(s.Meta), Spec: spec, Endpoint: endpointOf(s.Endpoint)}
	if s.PreviousSpec != nil {
		previous, err := serviceSpecOf(*s.PreviousSpec)
		if err != nil {
			return nil, fmt.Errorf("convert previous spec of service %s: %w", s.ID, err)
		}
		service.PreviousSpec = &previous
	}
	if u := s.UpdateStatus; u != nil {
		service.UpdateStatus = &api.UpdateStatus{
			State:   api.UpdateStatus_UpdateState(api.UpdateStatus_UpdateState_value[strings.ToUpper(string(u.State))]),
			Message: u.Message,
		}
		if u.StartedAt != nil {
			service.UpdateStatus.StartedAt = timestampOf(*u.StartedAt)
		}
		if u.CompletedAt != nil {
			service.UpdateStatus.CompletedAt = timestampOf(*u.CompletedAt)
		}
	}
	if j := s.JobStatus; j != nil {
		service.JobStatus = &api.JobStatus{
			JobIteration: api.Version{Index: j.JobIteration.Index}, LastExecution: timestampOf(j.LastExecution),
		}
	}
	return service, nil
}

// endpointOf returns nil where the managers gave the service nothing, which Docker shows as {"Spec":{}}.
func endpointOf(e swarm.Endpoint) *api.Endpoint {
	if e.Spec.Mode == "" && len(e.Spec.Ports) == 0 && len(e.Ports) == 0 && len(e.VirtualIPs) == 0 {
		return nil
	}
	endpoint := &api.Endpoint{Ports: portsOf(e.Ports)}
	if e.Spec.Mode != "" || len(e.Spec.Ports) > 0 {
		mode := api.EndpointSpec_ResolutionMode_value[strings.ToUpper(string(e.Spec.Mode))]
		endpoint.Spec = &api.EndpointSpec{Mode: api.EndpointSpec_ResolutionMode(mode), Ports: portsOf(e.Spec.Ports)}
	}
	for _, v := range e.VirtualIPs {
		endpoint.VirtualIPs = append(endpoint.VirtualIPs, &api.Endpoint_VirtualIP{NetworkID: v.NetworkID, Addr: v.Addr})
	}
	return endpoint
}

// taskOf leaves out what follows from the task's service: see revisions.
func taskOf(t swarm.Task) (*api.Task, error) {
	spec, err := taskSpecOf(t.Spec)
	if err != nil {
		return nil, fmt.Errorf("convert task %s: %w", t.ID, err)
	}
	state, known := api.TaskState_value[strings.ToUpper(string(t.Status.State))]
	desired, desiredKnown := api.TaskState_value[strings.ToUpper(string(t.DesiredState))]
	if !known || !desiredKnown {
		return nil, fmt.Errorf("convert task %s: unknown state %q or desired state %q", t.ID, t.Status.State, t.DesiredState)
	}
	task := &api.Task{
		ID: t.ID, Meta: metaOf(t.Meta), ServiceID: t.ServiceID, NodeID: t.NodeID, Slot: uint64(max(t.Slot, 0)), Spec: spec,
		Annotations:  api.Annotations{Name: t.Name, Labels: orNil(t.Labels)},
		DesiredState: api.TaskState(desired),
		Status: api.TaskStatus{
			Timestamp: timestampOf(t.Status.Timestamp), State: api.TaskState(state), Message: t.Status.Message, Err: t.Status.Err,
		},
		AssignedGenericResources: genericOf(t.GenericResources),
	}
	if c := t.Status.ContainerStatus; c != nil {
		container := &api.ContainerStatus{ContainerID: c.ContainerID, PID: int32(c.PID), ExitCode: int32(c.ExitCode)}
		task.Status.RuntimeStatus = &api.TaskStatus_Container{Container: container}
	}
	if ports := t.Status.PortStatus.Ports; len(ports) > 0 {
		task.Status.PortStatus = &api.PortStatus{Ports: portsOf(ports)}
	}
	for _, a := range t.NetworksAttachments {
		task.Networks = append(task.Networks, &api.NetworkAttachment{Network: attachedNetworkOf(a.Network), Addresses: a.Addresses})
	}
	if t.JobIteration != nil {
		task.JobIteration = &api.Version{Index: t.JobIteration.Index}
	}
	for _, v := range t.Volumes {
		task.Volumes = append(task.Volumes, &api.VolumeAttachment{ID: v.ID, Source: v.Source, Target: v.Target})
	}
	return task, nil
}

func attachedNetworkOf(n swarm.Network) *api.Network {
	if n.ID == "" {
		return nil
	}
	attached := &api.Network{
		ID:   n.ID,
		Meta: metaOf(n.Meta),
		Spec: api.NetworkSpec{
			Annotations: api.Annotations{Name: n.Spec.Name, Labels: orNil(n.Spec.Labels)},
			Ipv6Enabled: n.Spec.IPv6Enabled, Internal: n.Spec.Internal, Attachable: n.Spec.Attachable, Ingress: n.Spec.Ingress,
		},
		DriverState: driverOf(n.DriverState.Name, n.DriverState.Options),
	}
	if n.IPAMOptions != nil {
		attached.IPAM = &api.IPAMOptions{Driver: driverOf(n.IPAMOptions.Driver.Name, n.IPAMOptions.Driver.Options)}
		for _, c := range n.IPAMOptions.Configs {
			attached.IPAM.Configs = append(attached.IPAM.Configs, &api.IPAMConfig{Subnet: c.Subnet, Range: c.Range, Gateway: c.Gateway})
		}
	}
	return attached
}

// networkOf converts a swarm-scope network. One that the allocator has not got to has neither driver nor addresses.
func networkOf(n network.Inspect) *api.Network {
	converted := &api.Network{
		ID:   n.ID,
		Meta: api.Meta{CreatedAt: timestampOf(n.Created)},
		Spec: api.NetworkSpec{
			Annotations: api.Annotations{Name: n.Name, Labels: orNil(n.Labels)},
			Ipv6Enabled: n.EnableIPv6, Internal: n.Internal, Attachable: n.Attachable, Ingress: n.Ingress,
		},
		DriverState: driverOf(n.Driver, n.Options),
	}
	if n.IPAM.Driver != "" || len(n.IPAM.Config) > 0 {
		converted.IPAM = &api.IPAMOptions{Driver: driverOf(n.IPAM.Driver, n.IPAM.Options)}
		for _, c := range n.IPAM.Config {
			converted.IPAM.Configs = append(converted.IPAM.Configs, &api.IPAMConfig{Subnet: c.Subnet, Range: c.IPRange, Gateway: c.Gateway})
		}
	}
	return converted
}

// volumeOf converts a cluster volume.
func volumeOf(v volume.Volume) *api.Volume {
	cluster := v.ClusterVolume
	spec := convert.VolumeCreateToGRPC(&volume.CreateOptions{
		Name: v.Name, Labels: v.Labels, Driver: v.Driver, DriverOpts: v.Options, ClusterVolumeSpec: &cluster.Spec,
	})
	converted := &api.Volume{ID: cluster.ID, Meta: metaOf(cluster.Meta), Spec: *spec}
	for _, p := range cluster.PublishStatus {
		if p != nil {
			converted.PublishStatus = append(converted.PublishStatus,
				&api.VolumePublishStatus{NodeID: p.NodeID, State: publishStates[p.State], PublishContext: p.PublishContext})
		}
	}
	if i := cluster.Info; i != nil {
		converted.VolumeInfo = &api.VolumeInfo{CapacityBytes: i.CapacityBytes, VolumeContext: i.VolumeContext, VolumeID: i.VolumeID}
		for _, t := range i.AccessibleTopology {
			converted.VolumeInfo.AccessibleTopology = append(converted.VolumeInfo.AccessibleTopology, &api.Topology{Segments: t.Segments})
		}
	}
	return converted
}

var publishStates = map[volume.PublishState]api.VolumePublishStatus_State{
	volume.StatePending:              api.VolumePublishStatus_PENDING_PUBLISH,
	volume.StatePublished:            api.VolumePublishStatus_PUBLISHED,
	volume.StatePendingNodeUnpublish: api.VolumePublishStatus_PENDING_NODE_UNPUBLISH,
	volume.StatePendingUnpublish:     api.VolumePublishStatus_PENDING_UNPUBLISH,
}

func metaOf(m swarm.Meta) api.Meta {
	return api.Meta{
		Version: api.Version{Index: m.Version.Index}, CreatedAt: timestampOf(m.CreatedAt), UpdatedAt: timestampOf(m.UpdatedAt),
	}
}

// timestampOf returns nil for no time, which Docker shows as the start of 1970 (gogo's TimestampFromProto of nil).
func timestampOf(t time.Time) *gogotypes.Timestamp {
	if t.IsZero() || t.Unix() == 0 {
		return nil
	}
	stamp, err := gogotypes.TimestampProto(t)
	if err != nil {
		return nil // a year after 9999
	}
	return stamp
}

func portsOf(ports []swarm.PortConfig) []*api.PortConfig {
	var converted []*api.PortConfig
	for _, p := range ports {
		converted = append(converted, &api.PortConfig{
			Name:        p.Name,
			Protocol:    api.PortConfig_Protocol(api.PortConfig_Protocol_value[strings.ToUpper(string(p.Protocol))]),
			PublishMode: api.PortConfig_PublishMode(api.PortConfig_PublishMode_value[strings.ToUpper(string(p.PublishMode))]),
			TargetPort:  p.TargetPort, PublishedPort: p.PublishedPort,
		})
	}
	return converted
}

func genericOf(resources []swarm.GenericResource) []*api.GenericResource {
	return convert.GenericResourcesToGRPC(withoutEmpty(resources))
}

func driverOf(name string, options map[string]string) *api.Driver {
	if name == "" {
		return nil
	}
	return &api.Driver{Name: name, Options: options}
}

// orNil returns nil for an empty map: Docker shows one where swarmkit has none.
func orNil(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}
