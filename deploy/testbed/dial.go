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
	pid, err := holder(filepath.Join(s.folder, "bridge"))
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err = dialIn(ctx, fmt.Sprintf("/proc/%d/ns/net", pid), network, address)
	}()
	<-done
	return conn, err
}

// dialIn connects from the network namespace behind path. A socket stays in the namespace it was made in, but the
// thread must not serve others after this: it stays locked to the calling goroutine, and ends with it.
func dialIn(ctx context.Context, path, network, address string) (net.Conn, error) {
	runtime.LockOSThread()
	namespace, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open network namespace: %w", err)
	}
	defer namespace.Close()
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("enter network namespace: %w", err)
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, network, address)
}
