// Package snapshot writes a collector.State to a file of our own and reads it back. The file holds what the allow-list
// of the collector lets through, with its free text redacted, so that it is safe to attach to a ticket.
package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/gogo/protobuf/jsonpb"
	"github.com/gogo/protobuf/proto"
	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Key is the member of a JSON object that makes it a snapshot; its value is the version of the format.
const Key = "swarmdiag_snapshot"

// version is the only one there is.
const version = 1

// ErrVersion says that a snapshot was written by another swarmdiag, in a format that this one does not know.
var ErrVersion = errors.New("unknown snapshot version")

// file is the format: swarmkit's objects in the JSON of protocol buffers.
type file struct {
	Version  int               `json:"swarmdiag_snapshot"`
	Now      time.Time         `json:"now"`
	About    about             `json:"about"`
	Nodes    []json.RawMessage `json:"nodes"`
	Services []json.RawMessage `json:"services"`
	Tasks    []json.RawMessage `json:"tasks"`
	Networks []json.RawMessage `json:"networks"`
	Volumes  []json.RawMessage `json:"volumes"`
}

type about struct {
	Source      string          `json:"source"`
	ClusterID   string          `json:"cluster_id,omitempty"`
	ClusterName string          `json:"cluster_name,omitempty"`
	AsOf        time.Time       `json:"as_of"`
	Undated     bool            `json:"undated,omitempty"`
	Hides       []collector.Gap `json:"hides,omitempty"`
	Gaps        []collector.Gap `json:"gaps,omitempty"`
}

// Write writes the state as it was at now, as indented JSON.
func Write(w io.Writer, state *collector.State, now time.Time) error {
	a := state.About
	f := file{Version: version, Now: now.UTC(), About: about{
		Source: a.Source, ClusterID: a.ClusterID, ClusterName: a.ClusterName, AsOf: a.AsOf.UTC(), Undated: a.Undated,
		Hides: a.Hides, Gaps: redactedGaps(a.Gaps),
	}}
	var err error
	if f.Nodes, err = marshal(state.Nodes(), redactedNode); err != nil {
		return fmt.Errorf("write nodes: %w", err)
	}
	if f.Services, err = marshal(state.Services(), redactedService); err != nil {
		return fmt.Errorf("write services: %w", err)
	}
	if f.Tasks, err = marshal(state.Tasks(), redactedTask); err != nil {
		return fmt.Errorf("write tasks: %w", err)
	}
	if f.Networks, err = marshal(state.Networks(), (*api.Network).Copy); err != nil {
		return fmt.Errorf("write networks: %w", err)
	}
	if f.Volumes, err = marshal(state.Volumes(), redactedVolume); err != nil {
		return fmt.Errorf("write volumes: %w", err)
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(f); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}

func marshal[T any, P interface {
	*T
	proto.Message
}](objects iter.Seq[P], redacted func(P) P) ([]json.RawMessage, error) {
	written := []json.RawMessage{}
	for object := range objects {
		var buffer bytes.Buffer
		if err := (&jsonpb.Marshaler{OrigName: true}).Marshal(&buffer, redacted(object)); err != nil {
			return nil, err
		}
		written = append(written, buffer.Bytes())
	}
	return written, nil
}

// Read reads what Write wrote, and the time that was now. Fields that it does not know are passed over. The caller
// bounds the size of r.
func Read(r io.Reader) (*collector.State, time.Time, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read snapshot: %w", err)
	}
	var head struct {
		Version int `json:"swarmdiag_snapshot"`
	}
	if err := json.Unmarshal(content, &head); err != nil {
		return nil, time.Time{}, fmt.Errorf("read snapshot: %w", err)
	}
	if head.Version != version {
		return nil, time.Time{}, fmt.Errorf("%w %d: this swarmdiag reads version %d", ErrVersion, head.Version, version)
	}
	var f file
	if err := json.Unmarshal(content, &f); err != nil {
		return nil, time.Time{}, fmt.Errorf("read snapshot: %w", err)
	}
	var objects []any
	err = errors.Join(
		unmarshal[api.Node](&objects, "node", f.Nodes),
		unmarshal[api.Service](&objects, "service", f.Services),
		unmarshal[api.Task](&objects, "task", f.Tasks),
		unmarshal[api.Network](&objects, "network", f.Networks),
		unmarshal[api.Volume](&objects, "volume", f.Volumes),
	)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read snapshot: %w", err)
	}
	store := collector.NewStore()
	if err := store.Replace(objects); err != nil {
		return nil, time.Time{}, fmt.Errorf("read snapshot: %w", err)
	}
	a := f.About
	store.Describe(collector.About{
		Source: a.Source, ClusterID: a.ClusterID, ClusterName: a.ClusterName, AsOf: a.AsOf, Undated: a.Undated, Hides: a.Hides, Gaps: a.Gaps,
	})
	return store.Snapshot(), f.Now, nil
}

func unmarshal[T any, P interface {
	*T
	proto.Message
}](objects *[]any, what string, written []json.RawMessage) error {
	unmarshaler := &jsonpb.Unmarshaler{AllowUnknownFields: true}
	for i, raw := range written {
		if holdsNull(raw) {
			return fmt.Errorf("%s %d: it holds null, which is never written", what, i)
		}
		object := P(new(T))
		if err := unmarshaler.Unmarshal(bytes.NewReader(raw), object); err != nil {
			return fmt.Errorf("%s %d: %w", what, i, err)
		}
		*objects = append(*objects, object)
	}
	return nil
}

// holdsNull: jsonpb makes nil elements of them, which the objects of a manager never have.
func holdsNull(raw []byte) bool {
	if !bytes.Contains(raw, []byte("null")) {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		if token == nil {
			return true
		}
	}
}
