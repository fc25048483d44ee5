package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"

	"github.com/moby/swarmkit/v2/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// dialControl connects to a manager's control socket as dockerd does (swarmkit node, initManagerConnection): TLS without a
// check of the certificate, since the socket's file permissions are what protects it, and messages of any size.
func dialControl(socket string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("unix://"+socket,
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", socket, err)
	}
	return conn, nil
}

// workerToken reads the token with which a worker joins.
func workerToken(ctx context.Context, control api.ControlClient) (string, error) {
	clusters, err := control.ListClusters(ctx, &api.ListClustersRequest{})
	if err != nil {
		return "", fmt.Errorf("list clusters: %w", err)
	}
	if len(clusters.Clusters) == 0 {
		return "", errors.New("list clusters: the manager has none")
	}
	return clusters.Clusters[0].RootCA.JoinTokens.Worker, nil
}
