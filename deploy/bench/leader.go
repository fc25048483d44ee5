package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/log"
	"github.com/moby/swarmkit/v2/manager/controlapi"
	"github.com/moby/swarmkit/v2/manager/orchestrator/constraintenforcer"
	"github.com/moby/swarmkit/v2/manager/orchestrator/global"
	"github.com/moby/swarmkit/v2/manager/orchestrator/replicated"
	"github.com/moby/swarmkit/v2/manager/orchestrator/taskreaper"
	"github.com/moby/swarmkit/v2/manager/scheduler"
	"github.com/moby/swarmkit/v2/manager/state/store"
	"github.com/moby/swarmkit/v2/manager/watchapi"
	"github.com/sirupsen/logrus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// silent takes what swarmkit logs.
var silent = logrus.NewEntry(&logrus.Logger{Out: io.Discard, Level: logrus.PanicLevel})

// lead is the other process: the leader of a swarm of that many nodes, which answers on a socket and does what it reads from
// in, a line a command, until that ends. It answers each with a line.
func lead(ctx context.Context, nodes int, socket string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(log.WithLogger(ctx, silent))
	defer cancel()
	swarm, err := newCluster(nodes).seed()
	if err != nil {
		return err
	}
	defer swarm.Close()
	var running sync.WaitGroup
	defer running.Wait()
	defer manage(ctx, swarm, &running)()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	counted := &countedListener{Listener: listener}
	server, err := newServer(ctx, swarm)
	if err != nil {
		return err
	}
	running.Go(func() { _ = server.Serve(counted) }) // ends with Stop
	defer server.Stop()
	agents := newAgents(swarm)
	running.Go(func() { agents.run(ctx) })
	defer cancel()

	if err := judgedOnce(ctx, swarm); err != nil {
		return err
	}
	commands := bufio.NewScanner(in)
	for _, _ = fmt.Fprintln(out, "ready"); commands.Scan(); {
		answer, err := obey(swarm, agents, strings.Fields(commands.Text()))
		if err != nil {
			return err
		}
		if answer == "" {
			answer = fmt.Sprintln(cpu(), agents.events.Load(), counted.written.Load())
		}
		if _, err := fmt.Fprintln(out, strings.TrimSpace(answer)); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	return commands.Err()
}

// obey does one command. An empty answer stands for what the process has used and done so far.
func obey(swarm *store.MemoryStore, agents *agents, command []string) (string, error) {
	switch command[0] {
	case "usage":
		return "", nil
	case "churn":
		agents.churn.Store(command[1] == "on")
		return "ok", nil
	case "remove": // TASK
		return "ok", swarm.Update(func(tx store.Tx) error { return store.DeleteTask(tx, command[1]) })
	case "zone": // NODE ZONE
		return "ok", swarm.Update(func(tx store.Tx) error {
			n := store.GetNode(tx, command[1]).Copy()
			n.Spec.Annotations.Labels["zone"] = command[2]
			return store.UpdateNode(tx, n)
		})
	}
	return "", fmt.Errorf("unknown command %q", command)
}

// cpu is what this process has used.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// manage runs what a leader runs on its store (manager.Manager.becomeLeader), as far as it needs no raft, no certificates and
// no network: the allocator is played with the agents. It returns what ends it.
func manage(ctx context.Context, swarm *store.MemoryStore, running *sync.WaitGroup) func() {
	replicas, globals := replicated.NewReplicatedOrchestrator(swarm), global.NewGlobalOrchestrator(swarm)
	enforcer, reaper, scheduler := constraintenforcer.New(swarm), taskreaper.New(swarm), scheduler.New(swarm)
	running.Go(func() { _ = replicas.Run(ctx) })
	running.Go(func() { _ = globals.Run(ctx) })
	running.Go(enforcer.Run)
	running.Go(func() { reaper.Run(ctx) })
	running.Go(func() { _ = scheduler.Run(ctx) })
	return func() {
		scheduler.Stop()
		reaper.Stop()
		enforcer.Stop()
		globals.Stop()
		replicas.Stop()
	}
}

// judgedOnce waits until the scheduler has said of every task that waits why it does.
func judgedOnce(ctx context.Context, swarm *store.MemoryStore) error {
	for {
		unjudged := 0
		var err error
		swarm.View(func(tx store.ReadTx) {
			var all []*api.Task
			all, err = store.FindTasks(tx, store.All)
			for _, t := range all {
				if t.Status.State == api.TaskStatePending && t.Status.Err == "" {
					unjudged++
				}
			}
		})
		if err != nil || unjudged == 0 {
			return err
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// newServer serves a store as a manager's control socket does.
func newServer(ctx context.Context, swarm *store.MemoryStore) (*grpc.Server, error) {
	watch := watchapi.NewServer(swarm)
	if err := watch.Start(ctx); err != nil {
		return nil, fmt.Errorf("start watchapi: %w", err)
	}
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(certificate)))
	api.RegisterWatchServer(server, watch)
	api.RegisterControlServer(server, controlapi.NewServer(swarm, nil, nil, nil, nil))
	return server, nil
}

func selfSigned() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// countedListener counts what is written to all connections.
type countedListener struct {
	net.Listener
	written atomic.Int64
}

// Accept implements net.Listener.
func (l *countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn, written: &l.written}, nil
}

type countedConn struct {
	net.Conn
	written *atomic.Int64
}

// Write implements net.Conn.
func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}
