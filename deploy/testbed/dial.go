package testbed

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// Dial connects from the network between the nodes, which nothing else reaches, to an address in it, such as
// Address(2)+":8080". Addresses are IP addresses; there is no DNS. It serves as http.Transport.DialContext.
func (s *Swarm) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var conn net.Conn
	err := s.between(func() (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Gateway is the address of this machine in the network between the nodes, at which Listen can serve them.
const Gateway = "198.18.0.254"

// Listen listens in the network between the nodes, at Gateway+":2376" for example.
func (s *Swarm) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	var listener net.Listener
	err := s.between(func() (err error) {
		listener, err = new(net.ListenConfig).Listen(ctx, network, address)
		return err
	})
	return listener, err
}

// between makes a socket in the network between the nodes. A socket stays in the namespace it was made in, but the
// thread must not serve others after this: it stays locked to its goroutine, and ends with it.
func (s *Swarm) between(makeSocket func() error) error {
	pid, err := holder(filepath.Join(s.folder, "bridge"))
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if err := enter(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil {
			done <- err
			return
		}
		done <- makeSocket()
	}()
	return <-done
}

// enter moves the calling thread into the network namespace behind path.
func enter(path string) error {
	namespace, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open network namespace: %w", err)
	}
	defer namespace.Close()
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter network namespace: %w", err)
	}
	return nil
}
