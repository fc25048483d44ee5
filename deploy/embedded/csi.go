package embedded

import (
	"context"
	"fmt"
	"net"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/moby/swarmkit/v2/node/plugin"
	"google.golang.org/grpc"
)

// csiDriverName is the driver of the cluster volumes, the only plugin the manager finds.
const csiDriverName = "csi-nfs"

// csiDriver is a CSI plugin without a controller service: swarmkit's CSI manager takes each volume of such a plugin as created
// under its own name (manager/csi, plugin.CreateVolume). It is also the plugin store in which the manager looks it up.
type csiDriver struct {
	csi.UnimplementedIdentityServer
	server *grpc.Server
	addr   net.Addr
	served chan struct{} // closed when the server has ended
}

// startCSIDriver serves the plugin on a unix socket.
func startCSIDriver(socket string) (*csiDriver, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("listen for the CSI manager: %w", err)
	}
	d := &csiDriver{server: grpc.NewServer(), addr: listener.Addr(), served: make(chan struct{})}
	csi.RegisterIdentityServer(d.server, d)
	go func() {
		defer close(d.served)
		// Serve returns nil after Stop; a listener that broke shows as a volume that is never created.
		_ = d.server.Serve(listener)
	}()
	return d, nil
}

// stop ends the server and removes its socket.
func (d *csiDriver) stop() {
	d.server.Stop()
	<-d.served
}

// Probe says that the plugin is ready.
func (d *csiDriver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

// GetPluginCapabilities names none: there is no controller to call.
func (d *csiDriver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{}, nil
}

// Get implements plugin.Getter.
func (d *csiDriver) Get(name, capability string) (plugin.Plugin, error) {
	if name != csiDriverName {
		return nil, fmt.Errorf("plugin %q with capability %q not found", name, capability)
	}
	return d, nil
}

// GetAllManagedPluginsByCap implements plugin.Getter: the plugin is not one that the engine manages.
func (d *csiDriver) GetAllManagedPluginsByCap(string) []plugin.Plugin { return nil }

// Name implements plugin.Plugin.
func (d *csiDriver) Name() string { return csiDriverName }

// ScopedPath implements plugin.Plugin: the driver sees the same files as the manager.
func (d *csiDriver) ScopedPath(path string) string { return path }

// Client implements plugin.Plugin: there is no client of the older, HTTP protocol.
func (d *csiDriver) Client() plugin.Client { return nil }

// Addr implements plugin.AddrPlugin.
func (d *csiDriver) Addr() net.Addr { return d.addr }
