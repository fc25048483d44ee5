package watch

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// transport trusts any certificate: a control socket is guarded by its file permissions, shows the certificate of the
// node, and asks for none. dockerd dials it in the same way (swarmkit's node package).
var transport = &tls.Config{InsecureSkipVerify: true}

// window is how many bytes the manager may send ahead of what was read, in one call and in all. A fixed one spares both sides
// gRPC's measurements of the line: a ping and its answer for almost every event.
const window = 1 << 20

// dial connects to the control socket. It first greets the socket outside gRPC, which would hide why that fails.
func (s *Source) dial(ctx context.Context) (*grpc.ClientConn, error) {
	if err := s.greet(ctx); err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("passthrough:///"+s.path,
		grpc.WithContextDialer(dialSocket),
		grpc.WithTransportCredentials(credentials.NewTLS(transport.Clone())),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)), // a listing comes as one message
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
		grpc.WithUnaryInterceptor(readOnlyCall),
		grpc.WithStreamInterceptor(readOnlyStream),
	)
	if err != nil {
		return nil, fmt.Errorf("set up the connection: %w", err)
	}
	return conn, nil
}

func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", path)
}

func (s *Source) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.answer)
	defer cancel()
	socket, err := dialSocket(ctx, s.path)
	if err != nil {
		return explainDial(s.path, err)
	}
	defer socket.Close()
	if err := tls.Client(socket, transport.Clone()).HandshakeContext(ctx); err != nil {
		return explainHandshake(err)
	}
	return nil
}
