package dockercli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/docker/docker/daemon/cluster/convert"
	swarmapi "github.com/moby/swarmkit/v2/api"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
	"github.com/swarmdiag/swarmdiag/collector"
)

// engine answers Docker's commands as a manager's engine would, from a State, and keeps what they would change. Only what
// Docker's own commands among Commands call is there: the embedded client is nil.
type engine struct {
	client.APIClient

	state     *collector.State
	managers  *managers
	change    whatif.Change
	unchecked map[string]bool
	// whole tells that a spec comes from a file, and not from what the state knows of the service before.
	whole bool
}

func newEngine(state *collector.State) (*engine, error) {
	m, err := newManagers(state)
	if err != nil {
		return nil, err
	}
	return &engine{state: state, managers: m, unchecked: map[string]bool{}}, nil
}

func (e *engine) note(format string, args ...any) { e.unchecked[fmt.Sprintf(format, args...)] = true }

// sent is what the command would have changed.
func (e *engine) sent() whatif.Change {
	if len(e.change.Services) > 1 && e.whole {
		e.note("services are placed in the order of their names; Docker sends a stack's in any order")
	}
	e.change.Unchecked = slices.Sorted(maps.Keys(e.unchecked))
	return e.change
}

// refused is an error of the managers, as it reaches Docker's client over the managers' own protocol.
func refused(err error) error { return said(status.Convert(err).Err()) }

// said is an error in the words in which Docker's client passes on what an engine says.
func said(err error) error {
	text := "Error response from daemon: " + err.Error()
	if status.Code(err) == codes.NotFound || errdefs.IsNotFound(err) {
		return errdefs.ErrNotFound.WithMessage(text)
	}
	return errdefs.ErrInvalidArgument.WithMessage(text)
}

func notFound(kind, name string) error {
	return said(errdefs.ErrNotFound.WithMessage(fmt.Sprintf("%s %s not found", kind, name)))
}

// found returns the one object that a name or id means, as the engine finds it: by id, then by name, then by the
// beginning of an id (daemon/cluster/helpers.go).
func found[T any](kind, input string, objects []T, id, name func(T) string) (T, error) {
	var none T
	for _, matches := range []func(T) bool{
		func(o T) bool { return id(o) == input },
		func(o T) bool { return name(o) == input },
		func(o T) bool { return strings.HasPrefix(id(o), input) },
	} {
		var all []T
		for _, o := range objects {
			if matches(o) {
				all = append(all, o)
			}
		}
		switch {
		case len(all) == 1:
			return all[0], nil
		case len(all) > 1:
			return none, said(fmt.Errorf("%s %s is ambiguous (%d matches found)", kind, input, len(all)))
		}
	}
	return none, notFound(kind, input)
}

// ClientVersion is the newest that the commands know: every flag is there.
func (e *engine) ClientVersion() string { return api.DefaultVersion }

// Ping answers as a manager.
func (e *engine) Ping(context.Context) (types.Ping, error) {
	return types.Ping{APIVersion: api.DefaultVersion, OSType: "linux"}, nil
}

// NegotiateAPIVersionPing has nothing to agree on.
func (e *engine) NegotiateAPIVersionPing(types.Ping) {}

// Info says that this is a manager.
func (e *engine) Info(context.Context) (system.Info, error) {
	return system.Info{Swarm: swarm.Info{ControlAvailable: true, LocalNodeState: swarm.LocalNodeStateActive}}, nil
}

// NodeInspectWithRaw finds a node by id, hostname or the beginning of its id.
func (e *engine) NodeInspectWithRaw(ctx context.Context, input string) (swarm.Node, []byte, error) {
	n, err := e.node(ctx, input)
	if err != nil {
		return swarm.Node{}, nil, err
	}
	return convert.NodeFromGRPC(*n), nil, nil
}

func (e *engine) node(ctx context.Context, input string) (*swarmapi.Node, error) {
	answer, err := e.managers.ListNodes(ctx, &swarmapi.ListNodesRequest{})
	if err != nil {
		return nil, said(err)
	}
	return found("node", input, answer.Nodes, func(n *swarmapi.Node) string { return n.ID }, hostname)
}

func hostname(n *swarmapi.Node) string {
	if n.Description == nil {
		return ""
	}
	return n.Description.Hostname
}

// NodeUpdate keeps the node as the managers would have it.
func (e *engine) NodeUpdate(ctx context.Context, id string, version swarm.Version, spec swarm.NodeSpec) error {
	converted, err := convert.NodeSpecToGRPC(spec)
	if err != nil {
		return said(err)
	}
	answer, err := e.managers.UpdateNode(ctx, &swarmapi.UpdateNodeRequest{
		NodeID: id, NodeVersion: &swarmapi.Version{Index: version.Index}, Spec: &converted,
	})
	if err != nil {
		return refused(err)
	}
	n := answer.Node.Copy()
	n.Role = n.Spec.DesiredRole
	e.change.Nodes = append(e.change.Nodes, n)
	return nil
}
