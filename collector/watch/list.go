package watch

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"google.golang.org/grpc"
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

// idDigits are what ids consist of (swarmkit's package identity). Tasks are listed by the first digit of their id: that makes
// parts of the same size, none of which weighs much beside what is kept, and leaves out none, as a service that is gone or an
// attachment that never had one would.
const idDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

// list makes what the leader holds the whole content of the store.
func (r *reading) list(ctx context.Context) error {
	listing := r.store.List()
	nodes, err := within(ctx, r.listing, r.control.ListNodes, &api.ListNodesRequest{})
	if err != nil {
		return explainCall("list nodes", err)
	}
	add(listing, nodes.Nodes)
	networks, err := within(ctx, r.listing, r.control.ListNetworks, &api.ListNetworksRequest{})
	if err != nil {
		return explainCall("list networks", err)
	}
	add(listing, networks.Networks)
	services, err := within(ctx, r.listing, r.control.ListServices, &api.ListServicesRequest{})
	if err != nil {
		return explainCall("list services", err)
	}
	add(listing, services.Services)
	for _, digit := range idDigits {
		tasks, err := within(ctx, r.listing, r.control.ListTasks, &api.ListTasksRequest{
			Filters: &api.ListTasksRequest_Filters{IDPrefixes: []string{string(digit)}},
		})
		if err != nil {
			return explainCall("list tasks", err)
		}
		add(listing, tasks.Tasks)
	}
	volumes, err := within(ctx, r.listing, r.control.ListVolumes, &api.ListVolumesRequest{})
	switch {
	case status.Code(err) == codes.Unimplemented: // Docker before 23.0 has no cluster volumes
	case err != nil:
		return explainCall("list volumes", err)
	default:
		add(listing, volumes.Volumes)
	}
	before := r.store.Snapshot()
	if err := listing.Replace(); err != nil {
		return err
	}
	after := r.store.Snapshot()
	noteDropped(r.dropped, before.Nodes(), after.Node)
	noteDropped(r.dropped, before.Services(), after.Service)
	noteDropped(r.dropped, before.Tasks(), after.Task)
	noteDropped(r.dropped, before.Networks(), after.Network)
	noteDropped(r.dropped, before.Volumes(), after.Volume)
	return nil
}

// noteDropped notes the versions, by id, of objects that were there before and are not after.
func noteDropped[T any, P interface {
	*T
	api.StoreObject
}](versions map[string]uint64, before iter.Seq[*T], after func(id string) *T) {
	for object := range before {
		if id := P(object).GetID(); after(id) == nil {
			versions[id] = version(P(object))
		}
	}
}

// within bounds one call.
func within[Q, A any](ctx context.Context, limit time.Duration, call func(context.Context, Q, ...grpc.CallOption) (A, error), request Q) (A, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return call(ctx, request)
}

func add[T any](listing *collector.Listing, part []T) {
	for _, object := range part {
		listing.Add(object)
	}
}

// refreshManagers proves that the swarm has a leader with a quorum, since only the leader answers, and takes over what
// it says about the managers. That is the one thing that Watch never tells: a node's ManagerStatus is not in the store
// of the managers, it is filled in when somebody lists (ListNodes in swarmkit's manager/controlapi).
func (r *reading) refreshManagers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.answer)
	defer cancel()
	answer, err := r.control.ListNodes(ctx, &api.ListNodesRequest{
		Filters: &api.ListNodesRequest_Filters{Roles: []api.NodeRole{api.NodeRoleManager}}, // the rest may be thousands
	})
	if err != nil {
		return explainCall("list nodes", err)
	}
	standing := map[string]*api.ManagerStatus{}
	for _, listed := range answer.Nodes {
		standing[listed.ID] = listed.ManagerStatus
	}
	var changed []any
	for held := range r.store.Snapshot().Nodes() {
		if !sameStanding(held.ManagerStatus, standing[held.ID]) {
			node := *held
			node.ManagerStatus = standing[held.ID]
			changed = append(changed, &node)
		}
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
