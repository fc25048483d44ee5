package watch

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// arrivals counts what reaches a server, by method, and answers nothing.
type arrivals struct {
	mu    sync.Mutex
	count map[string]int
}

func (a *arrivals) note(method string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count[method]++
	return status.Error(codes.Unimplemented, "only counted")
}

func (a *arrivals) of(method string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count[method]
}

// everyService registers all services of swarmkit's api package.
func everyService(server *grpc.Server) {
	api.RegisterCAServer(server, struct{ api.CAServer }{})
	api.RegisterControlServer(server, struct{ api.ControlServer }{})
	api.RegisterDispatcherServer(server, struct{ api.DispatcherServer }{})
	api.RegisterHealthServer(server, struct{ api.HealthServer }{})
	api.RegisterLogBrokerServer(server, struct{ api.LogBrokerServer }{})
	api.RegisterLogsServer(server, struct{ api.LogsServer }{})
	api.RegisterNodeCAServer(server, struct{ api.NodeCAServer }{})
	api.RegisterRaftMembershipServer(server, struct{ api.RaftMembershipServer }{})
	api.RegisterRaftServer(server, struct{ api.RaftServer }{})
	api.RegisterResourceAllocatorServer(server, struct{ api.ResourceAllocatorServer }{})
	api.RegisterWatchServer(server, struct{ api.WatchServer }{})
}

func TestOnlyReadsReachTheWire(t *testing.T) {
	t.Parallel()
	arrived := &arrivals{count: map[string]int{}}
	socket, server := serve(t, everyService,
		grpc.UnaryInterceptor(func(_ context.Context, _ any, info *grpc.UnaryServerInfo, _ grpc.UnaryHandler) (any, error) {
			return nil, arrived.note(info.FullMethod)
		}),
		grpc.StreamInterceptor(func(_ any, _ grpc.ServerStream, info *grpc.StreamServerInfo, _ grpc.StreamHandler) error {
			return arrived.note(info.FullMethod)
		}))
	conn, err := New(socket).dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	let := map[string]bool{
		"Watch/Watch": true, "Health/Check": true,
		"Control/GetNode": true, "Control/ListNodes": true, "Control/GetTask": true, "Control/ListTasks": true,
		"Control/GetService": true, "Control/ListServices": true, "Control/ListServiceStatuses": true,
		"Control/GetNetwork": true, "Control/ListNetworks": true, "Control/GetCluster": true, "Control/ListClusters": true,
		"Control/GetSecret": true, "Control/ListSecrets": true, "Control/GetConfig": true, "Control/ListConfigs": true,
		"Control/GetExtension": true, "Control/GetResource": true,
		"Control/ListResources": true, "Control/GetVolume": true, "Control/ListVolumes": true,
	}
	for service, info := range server.GetServiceInfo() {
		for _, method := range info.Methods {
			full := "/" + service + "/" + method.Name
			short := strings.TrimPrefix(full, "/docker.swarmkit.v1.")
			call := &grpc.StreamDesc{StreamName: method.Name, ServerStreams: method.IsServerStream, ClientStreams: method.IsClientStream}
			err := drive(t.Context(), conn, full, call)
			if err == nil {
				t.Fatalf("%s: no error, though the server answers nothing", full)
			}
			refused := strings.Contains(err.Error(), full) && strings.Contains(err.Error(), "refused")
			if got := arrived.of(full); let[short] && (got != 1 || refused) || !let[short] && (got != 0 || !refused) {
				t.Errorf("%s: arrived %d times with error %q, to be let through: %v", full, got, err, let[short])
			}
			delete(let, short)
		}
	}
	for method := range let {
		t.Errorf("%s is not a method of swarmkit's", method)
	}
}

// drive calls a method in the way its kind asks for, until the answer or the refusal.
func drive(ctx context.Context, conn *grpc.ClientConn, method string, call *grpc.StreamDesc) error {
	if !call.ServerStreams && !call.ClientStreams {
		return conn.Invoke(ctx, method, &api.HealthCheckRequest{}, &api.HealthCheckResponse{})
	}
	stream, err := conn.NewStream(ctx, call, method)
	if err != nil {
		return err
	}
	return stream.RecvMsg(&api.HealthCheckResponse{})
}

func TestNamesThatOnlyLookLikeReadsAreRefused(t *testing.T) {
	t.Parallel()
	for _, method := range []string{
		"", "/", "Control/ListNodes", "/docker.swarmkit.v1.Control/GetUnlockKey", "/docker.swarmkit.v1.Control/listNodes",
		"/docker.swarmkit.v1.Control/RemoveNode", "/docker.swarmkit.v1.Watch/Watch/", "/other.Control/ListNodes",
		"/docker.swarmkit.v1.Dispatcher/ListNodes",
	} {
		if reads(method) {
			t.Errorf("%q is let through", method)
		}
	}
}
