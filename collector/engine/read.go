package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/api/types/volume"
	"github.com/swarmdiag/swarmdiag/collector"
)

const (
	// oldestAPI is that of Docker 20.10, the first with jobs.
	oldestAPI = "1.41"
	// volumesAPI is the first with cluster volumes (Docker 23).
	volumesAPI = "1.42"
	// callTimeout bounds one request: a manager itself gives up after 20 s (dockerd's swarmRequestTimeout).
	callTimeout = 30 * time.Second
)

// connect finds the version of the API that both sides speak, and whether this engine can tell the state of a cluster.
// An engine that hides docker info is asked all the same.
func (c *Client) connect(ctx context.Context) (*system.Info, []collector.Gap, error) {
	ping, err := within(ctx, c.api.Ping)
	if err != nil {
		return nil, nil, c.explain("ask for the API's version", "/_ping", err)
	}
	c.api.NegotiateAPIVersionPing(ping)
	if spoken := c.api.ClientVersion(); versions.LessThan(spoken, oldestAPI) {
		return nil, nil, fmt.Errorf("%s: %w: it speaks version %s of the Engine API, and swarmdiag needs %s (Docker 20.10) or later",
			c.host, ErrOldAPI, spoken, oldestAPI)
	}
	info, err := within(ctx, c.api.Info)
	if err == nil {
		return &info, nil, c.readable(info.Swarm)
	}
	gap, err := refusal("info", "the cluster's id and name are unknown", c.explain("read docker info", "/info", err))
	return nil, gap, err
}

// inspect asks for everything once, each thing by one request and one request at a time. Tasks come before services and
// nodes, so that what a task names is not younger than it.
func (c *Client) inspect(ctx context.Context, info *system.Info, gaps []collector.Gap) (*Inspected, error) {
	i := &Inspected{Info: info, Gaps: append([]collector.Gap(nil), gaps...)}
	var err error
	if i.Tasks, err = within(ctx, c.tasks); err != nil {
		return nil, c.explain("list tasks", "/tasks", err)
	}
	if i.Services, err = within(ctx, c.services); err != nil {
		return nil, c.explain("list services", "/services", err)
	}
	if i.Nodes, err = within(ctx, c.nodes); err != nil {
		return nil, c.explain("list nodes", "/nodes", err)
	}
	if i.Networks, err = within(ctx, c.networks); err != nil {
		gap, err := refusal("networks", "networks without a driver or with a full subnet stay unseen", c.explain("list networks", "/networks", err))
		if err != nil {
			return nil, err
		}
		i.Gaps = append(i.Gaps, gap...)
	}
	if !i.UsesClusterVolumes() || versions.LessThan(c.api.ClientVersion(), volumesAPI) {
		return i, nil
	}
	if i.Volumes, err = within(ctx, c.volumes); err != nil {
		gap, err := refusal("volumes", "the cluster volumes that services mount cannot be judged", c.explain("list volumes", "/volumes", err))
		if err != nil {
			return nil, err
		}
		i.Gaps = append(i.Gaps, gap...)
	}
	return i, nil
}

// refusal turns the refusal of something that can be done without into a gap; other errors stay.
func refusal(what, blind string, err error) ([]collector.Gap, error) {
	if !errors.Is(err, ErrRefused) {
		return nil, err
	}
	return []collector.Gap{{What: what, Why: err.Error() + "; without it " + blind}}, nil
}

func (c *Client) nodes(ctx context.Context) ([]swarm.Node, error) {
	return c.api.NodeList(ctx, swarm.NodeListOptions{})
}

func (c *Client) services(ctx context.Context) ([]swarm.Service, error) {
	return c.api.ServiceList(ctx, swarm.ServiceListOptions{})
}

// tasks asks for every runtime: without the filter dockerd leaves out network attachments and plugins
// (daemon/cluster.GetTasks), which hold addresses and resources too.
func (c *Client) tasks(ctx context.Context) ([]swarm.Task, error) {
	return c.api.TaskList(ctx, swarm.TaskListOptions{Filters: filters.NewArgs(
		filters.Arg("runtime", string(swarm.RuntimeContainer)),
		filters.Arg("runtime", string(swarm.RuntimePlugin)),
		filters.Arg("runtime", string(swarm.RuntimeNetworkAttachment)),
	)})
}

func (c *Client) networks(ctx context.Context) ([]network.Inspect, error) {
	return c.api.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs(filters.Arg("scope", "swarm"))})
}

// volumes keeps the node's own volumes out where that costs nothing: the filters do not apply to cluster volumes
// (daemon/cluster.GetVolumes), and no volume plugin is asked for its list.
func (c *Client) volumes(ctx context.Context) ([]volume.Volume, error) {
	listed, err := c.api.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(
		filters.Arg("driver", "local"), filters.Arg("dangling", "true"),
	)})
	if err != nil {
		return nil, err
	}
	var volumes []volume.Volume
	for _, v := range listed.Volumes {
		if v != nil && v.ClusterVolume != nil {
			volumes = append(volumes, *v)
		}
	}
	return volumes, nil
}
