package watch

import (
	"context"
	"errors"

	"github.com/moby/swarmkit/v2/api"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmdiag/swarmdiag/collector"
)

// about asks which swarm this is. The answer holds join tokens as well; they end here.
func (r *reading) about(ctx context.Context) (collector.About, error) {
	ctx, cancel := context.WithTimeout(ctx, r.answer)
	defer cancel()
	answer, err := r.control.ListClusters(ctx, &api.ListClustersRequest{})
	if err != nil {
		return collector.About{}, explainCall("list clusters", err)
	}
	if len(answer.Clusters) == 0 {
		return collector.About{}, errors.New("list clusters: none yet, the manager is still starting")
	}
	cluster := answer.Clusters[0] // swarmkit keeps exactly one
	return collector.About{Source: "watch", ClusterID: cluster.ID, ClusterName: cluster.Spec.Annotations.Name}, nil
}

// list makes what the leader holds the whole content of the store.
func (r *reading) list(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.listing)
	defer cancel()
	var objects []any
	nodes, err := r.control.ListNodes(ctx, &api.ListNodesRequest{})
	if err != nil {
		return explainCall("list nodes", err)
	}
	objects = add(objects, nodes.Nodes)
	networks, err := r.control.ListNetworks(ctx, &api.ListNetworksRequest{})
	if err != nil {
		return explainCall("list networks", err)
	}
	objects = add(objects, networks.Networks)
	services, err := r.control.ListServices(ctx, &api.ListServicesRequest{})
	if err != nil {
		return explainCall("list services", err)
	}
	objects = add(objects, services.Services)
	tasks, err := r.control.ListTasks(ctx, &api.ListTasksRequest{})
	if err != nil {
		return explainCall("list tasks", err)
	}
	objects = add(objects, tasks.Tasks)
	volumes, err := r.control.ListVolumes(ctx, &api.ListVolumesRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented: // Docker before 23.0 has no cluster volumes
	case err != nil:
		return explainCall("list volumes", err)
	default:
		objects = add(objects, volumes.Volumes)
	}
	return r.store.Replace(objects)
}

func add[T any](objects []any, more []T) []any {
	for _, object := range more {
		objects = append(objects, object)
	}
	return objects
}

// refreshManagers proves that the swarm has a leader with a quorum, since only the leader answers, and takes over what
// it says about the managers. That is the one thing that Watch never tells: a node's ManagerStatus is not in the store
// of the managers, it is filled in when somebody lists (ListNodes in swarmkit's manager/controlapi).
func (r *reading) refreshManagers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.answer)
	defer cancel()
	answer, err := r.control.ListNodes(ctx, &api.ListNodesRequest{})
	if err != nil {
		return explainCall("list nodes", err)
	}
	state := r.store.Snapshot()
	var changed []any
	for _, listed := range answer.Nodes {
		held := state.Node(listed.ID)
		if held == nil || sameStanding(held.ManagerStatus, listed.ManagerStatus) {
			continue
		}
		node := *held
		node.ManagerStatus = listed.ManagerStatus
		changed = append(changed, &node)
	}
	if len(changed) == 0 {
		return nil
	}
	return r.store.Put(changed...)
}

func sameStanding(a, b *api.ManagerStatus) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Leader == b.Leader && a.Reachability == b.Reachability && a.Addr == b.Addr
}
