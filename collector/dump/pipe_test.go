package dump

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// pipe makes a named pipe.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// reading is a read that runs; its end is waited for.
func reading(t *testing.T, ctx context.Context, path string) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, _, err := Read(ctx, path)
		ended <- err
	}()
	return ended
}

func mustEnd(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the read does not end")
		return nil
	}
}

func TestAPipeIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	path := pipe(t)
	ended := reading(t, t.Context(), path)
	writer, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nodes.json", "services.json", "tasks.json"} {
		if _, err := writer.WriteString(content(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustEnd(t, ended); err != nil {
		t.Error(err)
	}
}

func TestAPipeIsWaitedForUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]bool{"nobody writes": false, "somebody writes and does not end": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := pipe(t)
			ctx, cancel := context.WithCancel(t.Context())
			ended := reading(t, ctx, path)
			if write {
				writer, err := os.OpenFile(path, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer writer.Close()
				if _, err := writer.WriteString("[{"); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			if err := mustEnd(t, ended); !errors.Is(err, context.Canceled) {
				t.Errorf("ends with %v", err)
			}
		})
	}
}
