package engine

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/volume"

	"github.com/swarmdiag/swarmdiag/probes"
)

// Labels that Swarm's agent gives the containers of tasks (dockerd, daemon/cluster/executor/container, containerConfig.labels).
const (
	taskLabel        = "com.docker.swarm.task.id"
	serviceLabel     = "com.docker.swarm.service.id"
	serviceNameLabel = "com.docker.swarm.service.name"
)

// readLocal reads the lists wanted into e, with fresh slices, and returns those that could not be read.
func (c *Client) readLocal(ctx context.Context, e *probes.Engine, wanted changes, stale map[string]bool) (left changes) {
	left = wanted
	if wanted.info {
		if info, err := soon(ctx, c.api.Info); err == nil {
			takeInfo(e, &info)
			left.info = false
		}
	}
	if wanted.networks {
		if list, err := soon(ctx, func(ctx context.Context) ([]network.Summary, error) {
			return c.api.NetworkList(ctx, network.ListOptions{})
		}); err == nil {
			e.Networks, left.networks = networksOf(list), false
		}
	}
	if wanted.volumes {
		if list, err := soon(ctx, func(ctx context.Context) (volume.ListResponse, error) {
			return c.api.VolumeList(ctx, volume.ListOptions{})
		}); err == nil {
			e.Volumes, left.volumes = volumesOf(list.Volumes), false
		}
	}
	if wanted.images {
		if list, err := soon(ctx, func(ctx context.Context) ([]image.Summary, error) { return c.api.ImageList(ctx, image.ListOptions{}) }); err == nil {
			e.Images, left.images = imagesOf(list), false
		}
	}
	if wanted.plugins {
		if list, err := soon(ctx, func(ctx context.Context) (types.PluginsListResponse, error) {
			return c.api.PluginList(ctx, filters.NewArgs())
		}); err == nil {
			e.Plugins, left.plugins = pluginsOf(list), false
		}
	}
	if wanted.containers {
		if list, err := c.containers(ctx, e.Containers, stale); err == nil {
			e.Containers, left.containers = list, false
		}
	}
	return left
}

func soon[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, localTime)
	defer cancel()
	return call(ctx)
}

// containers lists all of them and inspects those that are new, in another state than before, or said to be stale.
func (c *Client) containers(ctx context.Context, before []probes.Container, stale map[string]bool) ([]probes.Container, error) {
	list, err := soon(ctx, func(ctx context.Context) ([]container.Summary, error) {
		return c.api.ContainerList(ctx, container.ListOptions{All: true})
	})
	if err != nil {
		return nil, err
	}
	known := make(map[string]probes.Container, len(before))
	for _, old := range before {
		known[old.ID] = old
	}
	all := make([]probes.Container, 0, len(list))
	for _, summary := range list {
		old, ok := known[summary.ID]
		if ok && old.State == summary.State && !stale[summary.ID] {
			all = append(all, old)
			continue
		}
		if len(all) == mostInspected {
			break
		}
		inspected, err := soon(ctx, func(ctx context.Context) (container.InspectResponse, error) {
			return c.api.ContainerInspect(ctx, summary.ID)
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil { // else it is gone, or the next reading finds it
			all = append(all, containerOf(&summary, &inspected))
		}
	}
	slices.SortFunc(all, func(a, b probes.Container) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

func containerOf(summary *container.Summary, inspected *container.InspectResponse) probes.Container {
	c := probes.Container{
		ID: summary.ID, State: summary.State, Networks: map[string]string{},
		Task: summary.Labels[taskLabel], Service: summary.Labels[serviceLabel], ServiceName: summary.Labels[serviceNameLabel],
	}
	if len(summary.Names) > 0 {
		c.Name = strings.TrimPrefix(summary.Names[0], "/")
	}
	for _, m := range summary.Mounts {
		c.Mounts = append(c.Mounts, probes.ContainerMount{Type: string(m.Type), Volume: m.Name, Driver: m.Driver, Source: m.Source, Target: m.Destination})
	}
	for _, p := range summary.Ports {
		port := probes.HostPort{Port: p.PublicPort, Protocol: p.Type}
		if p.PublicPort != 0 && !slices.Contains(c.Ports, port) {
			c.Ports = append(c.Ports, port)
		}
	}
	if base := inspected.ContainerJSONBase; base != nil {
		if base.HostConfig != nil {
			c.CgroupParent = base.HostConfig.CgroupParent
		}
		if state := base.State; state != nil {
			c.State, c.Pid, c.Exit, c.OOMKilled = state.Status, state.Pid, state.ExitCode, state.OOMKilled
			c.Started, c.Finished = dockerTime(state.StartedAt), dockerTime(state.FinishedAt)
		}
	}
	if settings := inspected.NetworkSettings; settings != nil {
		c.Sandbox = settings.SandboxKey
		for _, endpoint := range settings.Networks {
			if endpoint != nil && endpoint.NetworkID != "" {
				c.Networks[endpoint.NetworkID] = endpoint.IPAddress
			}
		}
	}
	return c
}

// dockerTime reads a time of the Engine API, which writes the year 1 for never.
func dockerTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || at.Year() <= 1 {
		return time.Time{}
	}
	return at
}

func takeInfo(e *probes.Engine, info *system.Info) {
	e.Version, e.DataRoot, e.CgroupDriver = info.ServerVersion, info.DockerRootDir, info.CgroupDriver
	e.CgroupVersion = 1
	if info.CgroupVersion == "2" {
		e.CgroupVersion = 2
	}
	s := info.Swarm
	e.Swarm = probes.EngineSwarm{NodeID: s.NodeID, Addr: s.NodeAddr, State: string(s.LocalNodeState), Error: s.Error, Control: s.ControlAvailable}
	for _, m := range s.RemoteManagers {
		e.Swarm.Managers = append(e.Swarm.Managers, m.Addr)
	}
	slices.Sort(e.Swarm.Managers)
	e.Generic = configuredOf(info.GenericResources)
	e.VolumeDrivers = slices.Clone(info.Plugins.Volume)
}

func configuredOf(resources []swarm.GenericResource) []string {
	var generic []string
	for _, r := range resources {
		switch {
		case r.NamedResourceSpec != nil:
			generic = append(generic, r.NamedResourceSpec.Kind+"="+r.NamedResourceSpec.Value)
		case r.DiscreteResourceSpec != nil:
			generic = append(generic, fmt.Sprintf("%s=%d", r.DiscreteResourceSpec.Kind, r.DiscreteResourceSpec.Value))
		}
	}
	slices.Sort(generic)
	return generic
}

func networksOf(list []network.Summary) []probes.Network {
	networks := make([]probes.Network, 0, len(list))
	for _, n := range list {
		_, encrypted := n.Options["encrypted"]
		kept := probes.Network{ID: n.ID, Name: n.Name, Driver: n.Driver, Scope: n.Scope, Encrypted: encrypted}
		for _, config := range n.IPAM.Config {
			if config.Subnet != "" {
				kept.Subnets = append(kept.Subnets, config.Subnet)
			}
		}
		networks = append(networks, kept)
	}
	slices.SortFunc(networks, func(a, b probes.Network) int { return cmp.Compare(a.ID, b.ID) })
	return networks
}

func volumesOf(list []*volume.Volume) []probes.Volume {
	volumes := make([]probes.Volume, 0, len(list))
	for _, v := range list {
		kept := probes.Volume{Name: v.Name, Driver: v.Driver, Mountpoint: v.Mountpoint}
		if v.Driver == "local" { // only its options are known to be no secrets, but for those of o
			kept.Type, kept.Device = v.Options["type"], withoutUser(v.Options["device"])
			kept.Server = serverOf(v.Options["o"], kept.Device)
		}
		volumes = append(volumes, kept)
	}
	slices.SortFunc(volumes, func(a, b probes.Volume) int { return cmp.Compare(a.Name, b.Name) })
	return volumes
}

// serverOf finds where a mount leads: the addr option, else the host that its device names (host:/path or //host/share).
func serverOf(options, device string) string {
	for option := range strings.SplitSeq(options, ",") {
		if addr, ok := strings.CutPrefix(option, "addr="); ok {
			return addr
		}
	}
	if share, ok := strings.CutPrefix(device, "//"); ok {
		host, _, _ := strings.Cut(share, "/")
		return host
	}
	if host, path, ok := strings.Cut(device, ":/"); ok && !strings.HasPrefix(path, "/") && !strings.Contains(host, "/") {
		return strings.Trim(host, "[]")
	}
	return ""
}

// withoutUser takes a name and a password out of a device such as https://user:word@host/share.
func withoutUser(device string) string {
	if address, err := url.Parse(device); err == nil && address.User != nil {
		address.User = nil
		return address.String()
	}
	if user, rest, ok := strings.Cut(device, "@"); ok && strings.Contains(user, ":") && net.ParseIP(user) == nil {
		return rest
	}
	return device
}

func imagesOf(list []image.Summary) []probes.Image {
	images := make([]probes.Image, 0, len(list))
	for _, i := range list {
		images = append(images, probes.Image{ID: i.ID, Names: slices.Concat(i.RepoTags, i.RepoDigests)})
	}
	slices.SortFunc(images, func(a, b probes.Image) int { return cmp.Compare(a.ID, b.ID) })
	return images
}

func pluginsOf(list types.PluginsListResponse) []probes.ManagedPlugin {
	plugins := make([]probes.ManagedPlugin, 0, len(list))
	for _, p := range list {
		kept := probes.ManagedPlugin{ID: p.ID, Name: p.Name, Enabled: p.Enabled}
		for _, implements := range p.Config.Interface.Types {
			kept.Types = append(kept.Types, fmt.Sprintf("%s.%s/%s", implements.Prefix, implements.Capability, implements.Version))
		}
		if socket := p.Config.Interface.Socket; socket != "" {
			kept.Socket = "/run/docker/plugins/" + p.ID + "/" + socket
		}
		plugins = append(plugins, kept)
	}
	slices.SortFunc(plugins, func(a, b probes.ManagedPlugin) int { return cmp.Compare(a.Name, b.Name) })
	return plugins
}
