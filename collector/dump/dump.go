// Package dump reads the state of a swarm from files with the output of docker node, service, network and volume
// inspect, docker inspect --type task and docker info, told apart by content, or from a snapshot of ours.
package dump

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/snapshot"
)

// maxSize bounds what is read of one dump, in bytes and unpacked. A swarm of 50,000 tasks takes about a tenth of it.
const maxSize = 1 << 30

// ErrNothing says that a dump holds nothing of what is read.
var ErrNothing = errors.New("holds no output of docker inspect")

// Read reads a folder (not what is in folders in it) or one file, plain or gzipped, and returns the state and the time
// it is from: the newest timestamp in it. What is missing is a gap of the state. The file may be a pipe: it is waited for
// until ctx ends.
func Read(ctx context.Context, path string) (*collector.State, time.Time, error) {
	files, folder, err := list(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	found, left := newFindings(), int64(maxSize)
	for _, name := range files {
		content, err := load(ctx, name, left)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("read %s: %w", name, err)
		}
		left -= int64(len(content))
		if !folder && isSnapshot(content) {
			state, now, err := snapshot.Read(bytes.NewReader(content))
			if err != nil {
				return nil, time.Time{}, fmt.Errorf("%s: %w", name, err)
			}
			return state, now, nil
		}
		text := folder && !strings.HasPrefix(strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(name, ".gz")), "."), "json")
		if err := found.add(filepath.Base(name), content, text); err != nil {
			return nil, time.Time{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if found.empty() {
		return nil, time.Time{}, fmt.Errorf("%s %w: it needs that of docker node, service, network and volume inspect, "+
			"docker inspect --type task and docker info, as JSON; swarmdiag why --help shows the lines that write it", path, ErrNothing)
	}
	return found.state(path)
}

// list returns the files to read, and whether path is a folder.
func list(path string) ([]string, bool, error) {
	about, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	if !about.IsDir() {
		return []string{path}, false, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, false, err
	}
	var files []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		name := filepath.Join(path, entry.Name())
		about, err := os.Stat(name) // of what a symbolic link leads to
		if err != nil {
			return nil, false, err
		}
		if about.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files, true, nil
}

// load returns the content of a file, unpacked, if that is not more than left bytes.
func load(ctx context.Context, name string, left int64) ([]byte, error) {
	file, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) }) // a regular file has none, and needs none
	defer stop()
	content, err := atMost(file, left)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return content, err
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return atMost(unpacker, left)
}

func atMost(r io.Reader, left int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, left+1))
	if err == nil && int64(len(content)) > left {
		return nil, fmt.Errorf("the dump is larger than %d bytes", int64(maxSize))
	}
	return content, err
}
