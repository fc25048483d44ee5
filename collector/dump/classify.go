package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/docker/docker/api/types/system"
	"github.com/swarmdiag/swarmdiag/collector/snapshot"
)

// add takes what it knows from the JSON of one file: arrays and objects, any number of them one after the other.
// Where the file may be plain text, content that is not JSON is passed over.
func (f *findings) add(name string, content []byte, text bool) error {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if first := bytes.TrimLeft(content, " \t\r\n"); text && (len(first) == 0 || first[0] != '{' && first[0] != '[') {
		return nil
	}
	known, unknown, count := false, false, 0
	err := eachObject(content, func(object []byte, at int) error {
		count++
		put, err := f.put(object)
		if err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		known, unknown = known || put, unknown || !put
		return nil
	})
	if err != nil && text && !known {
		return nil // a log line may begin with a bracket too
	}
	if unknown {
		f.unknown = append(f.unknown, name)
	}
	if err == nil && count == 0 {
		f.blank = append(f.blank, name)
	}
	return err
}

// eachObject calls do with every value at the top of the content and every element of an array there.
func eachObject(content []byte, do func(object []byte, at int) error) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	for inArray := false; ; {
		at := start(content, int(decoder.InputOffset()))
		if at < len(content) && (content[at] == '[' && !inArray || content[at] == ']' && inArray) {
			if _, err := decoder.Token(); err != nil {
				return syntaxError(content, at, err)
			}
			inArray = !inArray
			continue
		}
		var object json.RawMessage
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) && !inArray {
			return nil
		}
		if err != nil {
			return syntaxError(content, at, err)
		}
		if err := do(object, at); err != nil {
			return err
		}
	}
}

// start returns where the next value begins.
func start(content []byte, at int) int {
	for at < len(content) && bytes.IndexByte([]byte(" \t\r\n,"), content[at]) >= 0 {
		at++
	}
	return at
}

// syntaxError says where the JSON that begins at a byte breaks. A decoder tells that of the first value only.
func syntaxError(content []byte, at int, err error) error {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(content[at:], new(json.RawMessage)); errors.As(err, &syntax) && int(syntax.Offset) < len(content)-at {
		return fmt.Errorf("byte %d: not JSON: %w", at+int(syntax.Offset)-1, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || at >= len(content) {
		return fmt.Errorf("byte %d: the file ends in the middle of JSON", len(content))
	}
	return fmt.Errorf("byte %d: not JSON: %w", at, err)
}

func isSnapshot(content []byte) bool {
	var head map[string]json.RawMessage
	return json.NewDecoder(bytes.NewReader(content)).Decode(&head) == nil && head[snapshot.Key] != nil
}

// put sorts an object in by the members that only its kind has, and reports false for one of no kind.
func (f *findings) put(object []byte) (bool, error) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return false, nil // not an object
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if _, ok := members[name]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("ID", "Spec", "Description"):
		return true, unmarshal(object, "node", f.nodes.put)
	case has("ID", "Spec", "Status", "DesiredState"):
		return true, unmarshal(object, "task", f.tasks.put)
	case has("ID", "Spec", "Endpoint"):
		return true, unmarshal(object, "service", f.services.put)
	case has("Id", "Scope", "Driver", "IPAM"):
		return true, unmarshal(object, "network", f.networks.put)
	case has("Name", "Scope", "Driver", "Mountpoint"):
		return true, unmarshal(object, "volume", f.volumes.put)
	case has("Swarm", "Name"):
		return true, unmarshal(object, "docker info", func(i system.Info) bool { f.info = &i; return true })
	}
	return false, nil
}

func unmarshal[T any](object []byte, what string, put func(T) bool) error {
	var o T
	if err := json.Unmarshal(object, &o); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	if !put(o) {
		return fmt.Errorf("read %s: it has no id", what)
	}
	return nil
}
