// Package dump reads the state of a swarm from files with the output of docker node, service, network and volume
// inspect, docker inspect --type task and docker info, told apart by content, or from a snapshot of ours.
package dump

import (
	"bytes"
	"compress/gzip"
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
// it is from: the newest timestamp in it. What is missing is a gap of the state.
func Read(path string) (*collector.State, time.Time, error) {
	files, folder, err := list(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	found, left := newFindings(), int64(maxSize)
	for _, name := range files {
		content, err := load(name, left)
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
			"docker inspect --type task and docker info, as JSON", path, ErrNothing)
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
		if entry.Type().IsRegular() && !strings.HasPrefix(entry.Name(), ".") {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, true, nil
}

// load returns the content of a file, unpacked, if that is not more than left bytes.
func load(name string, left int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := atMost(file, left)
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
