package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/docker/cli/cli/command"
	"github.com/docker/cli/cli/flags"
	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/collector/engine"
)

func TestWhereTheAgentIs(t *testing.T) {
	t.Parallel()
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ network, given, want string }{
		"a socket's engine is that of the agent's node":   {"unix", "", "engines-node"},
		"the operator knows better than the engine":       {"unix", "given", "given"},
		"an engine elsewhere is not that of this node":    {"tcp", "", machine},
		"on a worker that reads a manager from elsewhere": {"tcp", "given", "given"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := logrus.New()
			log.SetOutput(io.Discard)
			p, err := newPlace(test.given, serveInfo(t, test.network), 9797, logrus.NewEntry(log))
			if err != nil {
				t.Fatal(err)
			}
			p.refresh(t.Context())
			if p.id() != test.want || p.managers["m"] != "10.0.0.1" {
				t.Errorf("the agent is on %q and knows the managers %v, want %q", p.id(), p.managers, test.want)
			}
		})
	}
}

// serveInfo is an engine that tells its place in a swarm, and nothing else.
func serveInfo(t *testing.T, network string) *engine.Client {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "docker.sock")
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.43")
		if filepath.Base(r.URL.Path) == "info" {
			_, _ = io.WriteString(w, `{"Swarm":{"NodeID":"engines-node","RemoteManagers":[{"NodeID":"m","Addr":"10.0.0.1:2377"}]}}`)
		}
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() { _ = server.Close(); <-done })

	docker, err := command.NewDockerCli()
	if err != nil {
		t.Fatal(err)
	}
	options := flags.NewClientOptions()
	options.Hosts = []string{network + "://" + listener.Addr().String()}
	if err := docker.Initialize(options); err != nil {
		t.Fatal(err)
	}
	client, err := dialContext(docker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}
