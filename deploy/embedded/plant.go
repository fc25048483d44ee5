package embedded

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/daemon/cluster/convert"
	"github.com/moby/swarmkit/v2/api"
)

const (
	// pausedVolume is a cluster volume that its driver has made and that takes no tasks.
	pausedVolume = "orders"
	// pollInterval is the time between two looks at the tasks.
	pollInterval = 50 * time.Millisecond
)

// plant creates the volume, the healthy services and then, when those hold what they ask for, the stuck ones.
func (c *cluster) plant(ctx context.Context) error {
	if err := c.createVolume(ctx); err != nil {
		return err
	}
	well := healthy()
	if err := c.createServices(ctx, well); err != nil {
		return err
	}
	var stuck []service
	for _, f := range faults() {
		stuck = append(stuck, f.service)
	}
	return c.createServices(ctx, stuck)
}

// createVolume makes the paused cluster volume, as `docker volume create --driver … --availability pause` does, and waits until
// the CSI manager has had it created by its driver: the scheduler knows a volume only from then on.
func (c *cluster) createVolume(ctx context.Context) error {
	created, err := c.control.CreateVolume(ctx, &api.CreateVolumeRequest{Spec: convert.VolumeCreateToGRPC(&volume.CreateOptions{
		Name:   pausedVolume,
		Driver: csiDriverName,
		ClusterVolumeSpec: &volume.ClusterVolumeSpec{
			AccessMode: &volume.AccessMode{
				Scope: volume.ScopeMultiNode, Sharing: volume.SharingAll, MountVolume: &volume.TypeMount{},
			},
			Availability: volume.AvailabilityPause,
		},
	})})
	if err != nil {
		return fmt.Errorf("create volume %s: %w", pausedVolume, err)
	}
	return poll(ctx, func() (missing string, err error) {
		v, err := c.control.GetVolume(ctx, &api.GetVolumeRequest{VolumeID: created.Volume.ID})
		if err != nil {
			return "", fmt.Errorf("get volume %s: %w", pausedVolume, err)
		}
		if v.Volume.VolumeInfo == nil {
			return "volume " + pausedVolume + " is not created by its driver", nil
		}
		return "", nil
	})
}

// createServices creates the services and waits until their tasks are as they should be.
func (c *cluster) createServices(ctx context.Context, services []service) error {
	ids := make([]string, len(services))
	for i, planted := range services {
		spec, err := convert.ServiceSpecToGRPC(planted.spec)
		if err != nil {
			return fmt.Errorf("convert service %s: %w", planted.spec.Name, err)
		}
		created, err := c.control.CreateService(ctx, &api.CreateServiceRequest{Spec: &spec})
		if err != nil {
			return fmt.Errorf("create service %s: %w", planted.spec.Name, err)
		}
		ids[i] = created.Service.ID
	}
	return poll(ctx, func() (missing string, err error) {
		tasks, err := c.control.ListTasks(ctx, &api.ListTasksRequest{Filters: &api.ListTasksRequest_Filters{ServiceIDs: ids}})
		if err != nil {
			return "", fmt.Errorf("list tasks: %w", err)
		}
		return notAsPlanted(services, ids, tasks.Tasks), nil
	})
}

// notAsPlanted names the services whose tasks are not yet as they should be; "" where all are. A task waits once the scheduler
// has said why.
func notAsPlanted(services []service, ids []string, tasks []*api.Task) string {
	type count struct{ all, running, waiting int }
	counts := map[string]count{}
	for _, t := range tasks {
		n := counts[t.ServiceID]
		n.all++
		switch {
		case t.Status.State == api.TaskStateRunning:
			n.running++
		case t.Status.State == api.TaskStatePending && t.Status.Err != "":
			n.waiting++
		}
		counts[t.ServiceID] = n
	}
	var missing []string
	for i, planted := range services {
		want := count{all: planted.running + planted.waiting, running: planted.running, waiting: planted.waiting}
		if got := counts[ids[i]]; got != want {
			missing = append(missing, fmt.Sprintf("service %s has %d tasks, %d running and %d waiting, instead of %d, %d and %d",
				planted.spec.Name, got.all, got.running, got.waiting, want.all, want.running, want.waiting))
		}
	}
	return strings.Join(missing, "; ")
}

// poll calls look until nothing is missing, it fails, or ctx is done.
func poll(ctx context.Context, look func() (missing string, err error)) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		missing, err := look()
		if err != nil || missing == "" {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for what was planted (%s): %w", missing, ctx.Err())
		}
	}
}
