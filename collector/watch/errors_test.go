package watch

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestASocketThatIsNoControlSocketIsExplained(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(t *testing.T, path string)
		want    string
		is      error
	}{
		"nothing is there":              {func(*testing.T, string) {}, "this node is no manager", fs.ErrNotExist},
		"a plain file":                  {plainFile, "this is no socket", syscall.ECONNREFUSED},
		"a socket that nobody holds":    {deadSocket, "mount the directory /run/docker instead", syscall.ECONNREFUSED},
		"the Engine's socket":           {engineSocket, "docker.sock is another one", nil},
		"a socket that never says much": {frozenSocket, "dockerd hangs", context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := New(filepath.Join(shortDir(t), "control.sock"))
			source.answer = 300 * time.Millisecond
			test.prepare(t, source.path)
			err := follow(t, source).waitEnd(t)
			if !strings.HasPrefix(err.Error(), "control socket "+source.path+": ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %q, want %q in it", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %q is not %v", err, test.is)
			}
		})
	}
}

// Root may open any file, so that a refusal cannot be brought about in every place where the tests run.
func TestASocketThatMayNotBeOpenedIsExplained(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	err := explainDial("/run/docker/swarm/control.sock", refused)
	if !strings.Contains(err.Error(), "run as root") || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error = %v", err)
	}
}

func TestTheEndOfTheContextIsNotBlamedOnTheManager(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	source := (&fake{}).serve(t)
	err := source.Follow(ctx, follow(t, source).store, cancel)
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "socket") {
		t.Errorf("error = %v, want the context's own", err)
	}
}

func plainFile(t *testing.T, path string) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// deadSocket leaves what dockerd leaves behind when it is killed.
func deadSocket(t *testing.T, path string) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
}

func engineSocket(t *testing.T, path string) {
	server := &http.Server{Handler: http.NotFoundHandler()}
	listener := listen(t, path)
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() { server.Close(); serving.Wait() })
}

// frozenSocket is a dockerd that was stopped by a signal: its kernel still accepts.
func frozenSocket(t *testing.T, path string) { listen(t, path) }

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}
