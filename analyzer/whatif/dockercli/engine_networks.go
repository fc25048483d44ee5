package dockercli

import (
	"context"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/daemon/cluster/convert"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/state/store"
)

// predefined are the networks that every node has; the managers hold one of that name for services.
var predefined = []string{"host", "bridge"}

// swarmScope is where the networks are that services can use.
const swarmScope = "swarm"

// NetworkInspect finds a network of the swarm by id, name or the beginning of its id.
func (e *engine) NetworkInspect(ctx context.Context, input string, _ network.InspectOptions) (network.Inspect, error) {
	n, err := e.network(ctx, input)
	if err != nil {
		return network.Inspect{}, err
	}
	shown := convert.BasicNetworkFromGRPC(*n)
	shown.Scope = swarmScope
	return shown, nil
}

// network makes up one that the source cannot know.
func (e *engine) network(ctx context.Context, input string) (*api.Network, error) {
	answer, err := e.managers.ListNetworks(ctx, &api.ListNetworksRequest{})
	if err != nil {
		return nil, said(err)
	}
	n, err := found("network", input, answer.Networks, func(n *api.Network) string { return n.ID },
		func(n *api.Network) string { return n.Spec.Annotations.Name })
	switch {
	case err == nil:
		return n, nil
	case slices.Contains(predefined, input):
	case e.seesNetworks():
		return nil, err
	default:
		e.note("no network could be seen: whether there is one named %s", input)
	}
	return namedNetwork(input, false), e.addNetwork(namedNetwork(input, false))
}

func (e *engine) seesNetworks() bool {
	for range e.state.Networks() {
		return true
	}
	return false
}

func (e *engine) addNetwork(n *api.Network) error {
	e.change.Networks = append(e.change.Networks, n)
	return e.managers.store.Update(func(tx store.Tx) error { return store.CreateNetwork(tx, n.Copy()) })
}

// NetworkList lists the networks of a stack, by their names: labels of networks are not kept.
func (e *engine) NetworkList(ctx context.Context, options network.ListOptions) ([]network.Summary, error) {
	answer, err := e.managers.ListNetworks(ctx, &api.ListNetworksRequest{})
	if err != nil {
		return nil, said(err)
	}
	var listed []network.Summary
	for _, label := range options.Filters.Get("label") {
		_, stack, _ := strings.Cut(label, "=")
		for _, n := range answer.Networks {
			if strings.HasPrefix(n.Spec.Annotations.Name, stack+"_") {
				listed = append(listed, convert.BasicNetworkFromGRPC(*n))
			}
		}
	}
	return listed, nil
}

// NetworkCreate keeps a network. Its addresses are not given.
func (e *engine) NetworkCreate(_ context.Context, name string, options network.CreateOptions) (network.CreateResponse, error) {
	n := namedNetwork(name, false)
	n.DriverState = &api.Driver{Name: options.Driver}
	e.note("network %s would be made: whether addresses are left for it", name)
	return network.CreateResponse{ID: n.ID}, e.addNetwork(n)
}

// believed makes up the objects that are asked for by name, and notes that nobody knows whether they exist.
func believed[T any](e *engine, kind string, asked filters.Args, made func(name string) T) []T {
	var listed []T
	for _, name := range asked.Get("name") {
		e.note("whether there is a %s named %s", kind, name)
		listed = append(listed, made(name))
	}
	return listed
}

// SecretList finds every secret that is asked for by name: which there are is not kept in the state.
func (e *engine) SecretList(_ context.Context, options swarm.SecretListOptions) ([]swarm.Secret, error) {
	return believed(e, "secret", options.Filters, func(name string) swarm.Secret {
		return swarm.Secret{ID: name, Spec: swarm.SecretSpec{Annotations: swarm.Annotations{Name: name}}}
	}), nil
}

// SecretInspectWithRaw finds no secret: a stack's file makes its own.
func (e *engine) SecretInspectWithRaw(_ context.Context, name string) (swarm.Secret, []byte, error) {
	return swarm.Secret{}, nil, notFound("secret", name)
}

// SecretCreate drops the secret's value.
func (e *engine) SecretCreate(_ context.Context, spec swarm.SecretSpec) (swarm.SecretCreateResponse, error) {
	return swarm.SecretCreateResponse{ID: spec.Name}, nil
}

// ConfigList finds every config that is asked for by name: which there are is not kept in the state.
func (e *engine) ConfigList(_ context.Context, options swarm.ConfigListOptions) ([]swarm.Config, error) {
	return believed(e, "config", options.Filters, func(name string) swarm.Config {
		return swarm.Config{ID: name, Spec: swarm.ConfigSpec{Annotations: swarm.Annotations{Name: name}}}
	}), nil
}

// ConfigInspectWithRaw finds no config: a stack's file makes its own.
func (e *engine) ConfigInspectWithRaw(_ context.Context, name string) (swarm.Config, []byte, error) {
	return swarm.Config{}, nil, notFound("config", name)
}

// ConfigCreate drops the config's value.
func (e *engine) ConfigCreate(_ context.Context, spec swarm.ConfigSpec) (swarm.ConfigCreateResponse, error) {
	return swarm.ConfigCreateResponse{ID: spec.Name}, nil
}
