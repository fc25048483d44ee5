package exporter

import (
	"bytes"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

func TestReportsAreAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	s := newSwarm(t)
	for _, id := range []string{"node-1", "node-2", "node-3"} {
		s.task("held-"+id, "id-of-"+id, api.TaskStateRunning, start, func(t *api.Task) {
			t.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 6 << 30}, Limits: &api.Resources{MemoryBytes: 7 << 30}}
		})
	}
	s.task("waiting", "", api.TaskStatePending, start, func(t *api.Task) {
		t.Slot, t.Status.Err = 7, "no suitable node (insufficient resources on 3 nodes)"
		t.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 4 << 30}}
	})
	stuck := s.Snapshot()
	result := analyzer.Analyze(stuck, start.Add(time.Minute), analyzer.Patience{})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"report.txt":      func(out *bytes.Buffer) error { return Report(out, Redact(result), nil, false, false) },
		"report.wide.txt": func(out *bytes.Buffer) error { return Report(out, Redact(result), nil, true, false) },
		"report.well.txt": func(out *bytes.Buffer) error {
			return Report(out, analyzer.Analyze(wellState(t), start, analyzer.Patience{}), nil, false, false)
		},
		"nodes.txt": func(out *bytes.Buffer) error { return NodeTable(out, analyzer.Nodes(stuck)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.Bytes())
		})
	}
}

func TestColourIsForTerminalsOnly(t *testing.T) {
	t.Parallel()
	result := analyzer.Result{Diagnoses: []analyzer.Diagnosis{{Summary: "web is down", Severity: analyzer.Critical}}}
	for _, colored := range []bool{true, false} {
		var out bytes.Buffer
		if err := Report(&out, result, nil, false, colored); err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(out.Bytes(), []byte("\x1b[31m")); got != colored {
			t.Errorf("colour is %t, want %t", got, colored)
		}
	}
}

func wellState(t *testing.T) *collector.State {
	store := collector.NewStore()
	if err := store.Put(node("node-1")); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}
