//go:build live

package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sshServer answers on the loopback address with a real sshd for each connection, as inetd does: so the connections are
// counted, and no port has to be guessed.
type sshServer struct {
	port        int
	connections atomic.Int32
}

// ssh looks through a docker context with an ssh:// address: a login takes long, so a look has one.
func (r *rig) ssh() {
	want := r.bothStuck()
	server := r.startSSH()
	r.sh(fmt.Sprintf("docker context create far --docker host=ssh://operator@127.0.0.1:%d", server.port))
	for _, line := range []string{fmt.Sprintf(withContext, "far"), "env -u DOCKER_HOST swarmdiag --context far why --format json"} {
		before := server.connections.Load()
		result, status := r.result(line)
		if status != 2 {
			r.t.Fatalf("%s: exit status %d, want 2", line, status)
		}
		r.same(line, want, comparable(result))
		if n := server.connections.Load() - before; n != 1 {
			r.t.Errorf("%s: %d ssh connections for one look, want one", line, n)
		}
	}
	r.sh(fmt.Sprintf("docker context create stranger --docker host=ssh://stranger@127.0.0.1:%d", server.port))
	if out, err := r.try(fmt.Sprintf(withContext, "stranger")); err == nil || !strings.Contains(out, "ssh://stranger@127.0.0.1") {
		r.t.Errorf("a login that is refused: %v: %s", err, out)
	}
}

// startSSH makes the keys, and an ssh command first in the path that uses them and no configuration of this machine.
func (r *rig) startSSH() *sshServer {
	r.t.Helper()
	bin, with := r.fetched("ssh")
	folder := r.t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			r.t.Fatal(err)
		}
		return path
	}
	for _, key := range []string{"host", "user"} {
		r.sh(fmt.Sprintf("%s %s/ssh-keygen -q -t ed25519 -N '' -f %s/%s", with, bin, folder, key))
	}
	// sshd wants a user of its own to lock itself away, and a folder in /run: both are there only for it.
	passwd := write("passwd", "root:*:0:0::/root:/bin/sh\noperator:*:0:0::"+folder+":/bin/sh\nsshd:*:65533:65534::/run/sshd:/usr/sbin/nologin\n", 0o644)
	config := write("sshd_config", strings.Join([]string{
		"HostKey " + folder + "/host", "AuthorizedKeysFile " + folder + "/user.pub", "PermitRootLogin prohibit-password", "StrictModes no", "UsePAM no",
		"PidFile none", "SetEnv DOCKER_HOST=unix://" + r.Socket(manager) + " PATH=" + os.Getenv("PATH"),
	}, "\n")+"\n", 0o644)
	script := "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && mount --bind " + passwd + " /etc/passwd && exec \"$0\" -i -e -f " + config

	public, err := os.ReadFile(filepath.Join(folder, "host.pub"))
	if err != nil {
		r.t.Fatal(err)
	}
	known := write("known_hosts", "* "+string(public), 0o644)
	client := write("ssh_config", "IdentityFile "+folder+"/user\nIdentitiesOnly yes\nUserKnownHostsFile "+known+"\nBatchMode yes\nStrictHostKeyChecking yes\n", 0o644)
	if err := os.WriteFile(filepath.Join(r.config, "ssh"), []byte("#!/bin/sh\n"+with+" exec "+bin+"/ssh -F "+client+" \"$@\"\n"), 0o755); err != nil {
		r.t.Fatal(err)
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	server := &sshServer{port: listener.Addr().(*net.TCPAddr).Port}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			server.connections.Add(1)
			served.Go(func() { r.serveSSH(conn, with, script, filepath.Join(bin, "..", "sbin", "sshd")) })
		}
	})
	r.t.Cleanup(func() { _ = listener.Close(); served.Wait() })
	return server
}

// serveSSH lets an sshd in a mount namespace of its own have a connection.
func (r *rig) serveSSH(conn net.Conn, with, script, sshd string) {
	defer conn.Close()
	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		r.t.Error(err)
		return
	}
	defer file.Close()
	cmd := exec.CommandContext(r.t.Context(), "unshare", "--mount", "--propagation", "private", "sh", "-c", script, sshd)
	cmd.Env = append(os.Environ(), with)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, file, r.t.Output()
	cmd.WaitDelay = 5 * time.Second
	_ = cmd.Run() // its status is that of the session, which the client sees
}
