package watch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// serve runs a gRPC server with a certificate of its own on a unix socket until the test ends.
func serve(t *testing.T, register func(*grpc.Server), options ...grpc.ServerOption) (socket string, server *grpc.Server) {
	t.Helper()
	socket = filepath.Join(shortDir(t), "control.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server = grpc.NewServer(append(options, grpc.Creds(credentials.NewServerTLSFromCert(certificate(t))))...)
	register(server)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Errorf("serve %s: %v", socket, err)
		}
	})
	t.Cleanup(func() { server.Stop(); serving.Wait() })
	return socket, server
}

func certificate(t *testing.T) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// fake is a manager that does what a real one can hardly be brought to do. It holds one node and the tasks that
// it is given; its functions take the place of an answer.
type fake struct {
	api.ControlServer
	events    chan *api.WatchMessage // sent to whoever watches
	watch     func(api.Watch_WatchServer) error
	clusters  func() []*api.Cluster
	listNodes func(ctx context.Context, call int) ([]*api.Node, error) // call counts from 1
	listTasks func() []*api.Task
	volumes   func() ([]*api.Volume, error)

	tasks []*api.Task // of the listing under way

	mu    sync.Mutex
	calls int // of ListNodes
}

// serve runs the fake and returns a source that is pointed at it and that asks often.
func (f *fake) serve(t *testing.T) *Source {
	t.Helper()
	f.events = make(chan *api.WatchMessage)
	socket, _ := serve(t, func(s *grpc.Server) {
		api.RegisterControlServer(s, f)
		api.RegisterWatchServer(s, f)
	})
	source := New(socket)
	source.pulse = 5 * time.Millisecond
	return source
}

// send hands a message to the watching source.
func (f *fake) send(t *testing.T, events ...*api.WatchMessage_Event) {
	t.Helper()
	select {
	case f.events <- &api.WatchMessage{Events: events}:
	case <-time.After(patience):
		t.Fatal("nobody takes the message")
	}
}

func (f *fake) Watch(_ *api.WatchRequest, stream api.Watch_WatchServer) error {
	if f.watch != nil {
		return f.watch(stream)
	}
	if err := stream.Send(&api.WatchMessage{}); err != nil {
		return err
	}
	for {
		select {
		case message := <-f.events:
			if err := stream.Send(message); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (f *fake) ListClusters(context.Context, *api.ListClustersRequest) (*api.ListClustersResponse, error) {
	if f.clusters != nil {
		return &api.ListClustersResponse{Clusters: f.clusters()}, nil
	}
	return &api.ListClustersResponse{Clusters: []*api.Cluster{{ID: "cluster"}}}, nil
}

func (f *fake) ListNodes(ctx context.Context, _ *api.ListNodesRequest) (*api.ListNodesResponse, error) {
	f.mu.Lock()
	f.calls++
	call := f.calls
	f.mu.Unlock()
	if f.listNodes == nil {
		return &api.ListNodesResponse{Nodes: []*api.Node{leader(api.RaftMemberStatus_REACHABLE)}}, nil
	}
	nodes, err := f.listNodes(ctx, call)
	return &api.ListNodesResponse{Nodes: nodes}, err
}

// ListTasks answers for one prefix of ids, as a source asks. listTasks is asked once a listing.
func (f *fake) ListTasks(_ context.Context, request *api.ListTasksRequest) (*api.ListTasksResponse, error) {
	prefix := request.Filters.IDPrefixes[0]
	if prefix == idDigits[:1] && f.listTasks != nil {
		f.tasks = f.listTasks()
	}
	listed := slices.DeleteFunc(slices.Clone(f.tasks), func(t *api.Task) bool { return !strings.HasPrefix(t.ID, prefix) })
	return &api.ListTasksResponse{Tasks: listed}, nil
}

func (f *fake) ListServices(context.Context, *api.ListServicesRequest) (*api.ListServicesResponse, error) {
	return &api.ListServicesResponse{}, nil
}

func (f *fake) ListNetworks(context.Context, *api.ListNetworksRequest) (*api.ListNetworksResponse, error) {
	return &api.ListNetworksResponse{}, nil
}

func (f *fake) ListVolumes(context.Context, *api.ListVolumesRequest) (*api.ListVolumesResponse, error) {
	if f.volumes == nil {
		return &api.ListVolumesResponse{}, nil
	}
	volumes, err := f.volumes()
	return &api.ListVolumesResponse{Volumes: volumes}, err
}

func leader(reachability api.RaftMemberStatus_Reachability) *api.Node {
	return &api.Node{ID: "leader", ManagerStatus: &api.ManagerStatus{Leader: true, Reachability: reachability}}
}

func task(id string, index uint64, state api.TaskState) *api.Task {
	return &api.Task{ID: id, Meta: api.Meta{Version: api.Version{Index: index}}, Status: api.TaskStatus{State: state}}
}

func event(action api.WatchActionKind, task *api.Task) *api.WatchMessage_Event {
	return &api.WatchMessage_Event{Action: action, Object: &api.Object{Object: &api.Object_Task{Task: task}}}
}
