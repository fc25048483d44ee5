package watch

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
)

// reads tells whether a gRPC method only reads. Whoever opens a control socket may do anything to the swarm, so nothing
// but these methods leaves this process.
func reads(method string) bool {
	switch method {
	case "/docker.swarmkit.v1.Watch/Watch", "/docker.swarmkit.v1.Health/Check":
		return true
	case "/docker.swarmkit.v1.Control/GetUnlockKey": // hands out a secret
		return false
	}
	name, control := strings.CutPrefix(method, "/docker.swarmkit.v1.Control/")
	return control && (strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List"))
}

func refuse(method string) error {
	return fmt.Errorf("call %s: refused, it does not only read", method)
}

func readOnlyCall(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if !reads(method) {
		return refuse(method)
	}
	return invoke(ctx, method, request, reply, conn, options...)
}

func readOnlyStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	if !reads(method) {
		return nil, refuse(method)
	}
	return open(ctx, desc, conn, method, options...)
}
