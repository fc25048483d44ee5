package dockercli

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/controlapi"
	"github.com/moby/swarmkit/v2/manager/state/store"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmdiag/swarmdiag/collector"
)

// ingress is the name of the network that swarm init makes for published ports.
const ingress = "ingress"

// managers are swarmkit's own control API over a copy of what the state holds, without the tasks. They check a spec as
// the managers of the swarm do, in their words.
type managers struct {
	*controlapi.Server
	store *store.MemoryStore
}

func newManagers(state *collector.State) (*managers, error) {
	copied := store.NewMemoryStore(nil)
	m := &managers{Server: controlapi.NewServer(copied, nil, nil, nil, nil), store: copied}
	if err := copied.Update(func(tx store.Tx) error { return seed(tx, state) }); err != nil {
		m.close()
		return nil, fmt.Errorf("copy the swarm: %w", err)
	}
	return m, nil
}

func (m *managers) close() { _ = m.store.Close() }

func seed(tx store.Tx, state *collector.State) error {
	hasIngress := false
	for n := range state.Networks() {
		network := n.Copy()
		network.Spec.Ingress = n.Spec.Annotations.Name == ingress // which network that is, is not kept
		hasIngress = hasIngress || network.Spec.Ingress
		if err := store.CreateNetwork(tx, network); err != nil {
			return err
		}
	}
	if !hasIngress { // not every source shows it
		if err := store.CreateNetwork(tx, namedNetwork(ingress, true)); err != nil {
			return err
		}
	}
	return errors.Join(
		each(state.Services(), func(s *api.Service) error { return store.CreateService(tx, s.Copy()) }),
		each(state.Nodes(), func(n *api.Node) error {
			node := n.Copy()
			node.Spec.DesiredRole = max(n.Spec.DesiredRole, n.Role)
			return store.CreateNode(tx, node)
		}),
	)
}

func each[T any](objects iter.Seq[*T], create func(*T) error) error {
	for object := range objects {
		if err := create(object); err != nil {
			return err
		}
	}
	return nil
}

// namedNetwork is a network of which only the name is known; its name is its id, too.
func namedNetwork(name string, isIngress bool) *api.Network {
	return &api.Network{
		ID: name, Spec: api.NetworkSpec{Annotations: api.Annotations{Name: name}, Ingress: isIngress},
		DriverState: &api.Driver{Name: "overlay"},
	}
}

// UpdateNode checks a demotion by the state's managers: controlapi's own would ask raft, which is not here
// (manager/controlapi.Server.UpdateNode, manager/state/raft.Node.CanRemoveMember).
func (m *managers) UpdateNode(ctx context.Context, request *api.UpdateNodeRequest) (*api.UpdateNodeResponse, error) {
	answer, err := m.GetNode(ctx, &api.GetNodeRequest{NodeID: request.NodeID})
	if err != nil {
		return nil, err
	}
	node := answer.Node
	if node.Spec.DesiredRole != api.NodeRoleManager || request.Spec.DesiredRole != api.NodeRoleWorker {
		return m.Server.UpdateNode(ctx, request)
	}
	all, err := m.ListNodes(ctx, &api.ListNodesRequest{})
	if err != nil {
		return nil, err
	}
	left, reachable := 0, 0
	for _, n := range all.Nodes {
		if n.ManagerStatus != nil && n.ID != node.ID {
			left++
			if n.ManagerStatus.Reachability == api.RaftMemberStatus_REACHABLE {
				reachable++
			}
		}
	}
	switch {
	case left == 0:
		return nil, status.Error(codes.FailedPrecondition, "attempting to demote the last manager of the swarm")
	case reachable < left/2+1:
		return nil, status.Error(codes.FailedPrecondition, "can't remove member from the raft: this would result in a loss of quorum")
	}
	node.Spec = *request.Spec.Copy()
	if err := m.store.Update(func(tx store.Tx) error { return store.UpdateNode(tx, node) }); err != nil {
		return nil, err
	}
	return &api.UpdateNodeResponse{Node: node}, nil
}

// reference makes the secrets and configs exist that a spec refers to: which there are is not kept in the state.
func (m *managers) reference(spec *api.ServiceSpec) error {
	container := spec.Task.GetContainer()
	if container == nil {
		return nil
	}
	return m.store.Update(func(tx store.Tx) error {
		for _, r := range container.Secrets {
			if store.GetSecret(tx, r.SecretID) == nil {
				secret := &api.Secret{ID: r.SecretID, Spec: api.SecretSpec{Annotations: api.Annotations{Name: r.SecretName}}}
				if err := store.CreateSecret(tx, secret); err != nil {
					return err
				}
			}
		}
		for _, r := range container.Configs {
			if store.GetConfig(tx, r.ConfigID) == nil {
				config := &api.Config{ID: r.ConfigID, Spec: api.ConfigSpec{Annotations: api.Annotations{Name: r.ConfigName}}}
				if err := store.CreateConfig(tx, config); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
