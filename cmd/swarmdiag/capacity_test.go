package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer/capacity"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
	"github.com/swarmdiag/swarmdiag/collector/snapshot"
)

func TestCapacityOfARecordedSwarm(t *testing.T) {
	status, stdout, stderr := swarmdiag(t, "capacity", "--from", "testdata/cases/drained", "--format", "json")
	var report capacity.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || status != 0 {
		t.Fatalf("status %d: %v\n%s%s", status, err, stdout, stderr)
	}
	activates := func(c capacity.Change) bool {
		return c.Command == "docker node update --availability active node-2" && c.Services == 1 && c.Tasks == 1
	}
	if !slices.ContainsFunc(report.Changes, activates) {
		t.Errorf("no change activates node-2: %+v", report.Changes)
	}
	if !slices.ContainsFunc(report.Needed, func(n capacity.Need) bool { return n.Nodes == 1 && n.Places == 1 }) {
		t.Errorf("one more worker is not said to do: %+v", report.Needed)
	}
	if len(report.Headroom) == 0 || len(report.Bounded) > 0 {
		t.Errorf("headroom %+v, bounded %q", report.Headroom, report.Bounded)
	}
}

func TestTryAddsTheNodesThatCapacityCounts(t *testing.T) {
	folders, err := filepath.Glob("testdata/cases/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, folder := range folders {
		_, stdout, _ := swarmdiag(t, "capacity", "--from", folder, "--format", "json")
		var report capacity.Report
		if err := json.Unmarshal([]byte(stdout), &report); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		for _, need := range report.Needed {
			if need.Waiting == 0 {
				continue
			}
			args := []string{"try", "--from", folder, "node", "add", "--like", need.Like}
			for i := range max(need.Nodes, 1) {
				args = append(args, fmt.Sprintf("more-%d", i+1))
			}
			status, stdout, stderr := swarmdiag(t, args...)
			if want := need.Places == need.Waiting; status == 0 != want {
				t.Errorf("%s: capacity says of nodes like %s that %d place %d of %d, but try ends with %d:\n%s%s",
					folder, need.Like, need.Nodes, need.Places, need.Waiting, status, stdout, stderr)
			}
		}
	}
}

func TestCapacityThatHasNoTimeSaysSo(t *testing.T) {
	status, stdout, stderr := swarmdiag(t, "capacity", "--from", "testdata/cases/drained", "--time", "0s")
	if status != 0 || !strings.Contains(stdout, "the time was up before") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
}

func TestTheAgentMeasuresWhileItSpeaks(t *testing.T) {
	t.Parallel()
	told := make(chan capacity.Report, 1)
	m := &measurer{log: logrus.NewEntry(logrus.New()), tell: func(r capacity.Report) { told <- r }}
	m.measure(t.Context())
	select {
	case r := <-told:
		t.Errorf("it tells %+v of nothing", r)
	default:
	}
	m.want(collector.NewStore().Snapshot(), nil)
	m.measure(t.Context())
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Error("it tells nothing")
	}
}

func TestWhyTellsWhatSeveralServicesWaitForAndWhatWouldHelpMost(t *testing.T) {
	objects := []any{collectortest.Node(1), collectortest.Node(2, collectortest.Drained)}
	for _, name := range []string{"web", "api"} {
		s := collectortest.Service(name, 1, collectortest.Constrained("node.hostname==node-2"))
		objects = append(objects, s, collectortest.Task(s, 1, api.TaskStatePending))
	}
	status, stdout, stderr := swarmdiag(t, "why", "--from", snapshotOf(t, objects))
	for _, want := range []string{
		"and by every other filter would take what is stuck: 2 tasks of 2 services (api, web)\n" +
			"  remedy       $ docker node update --availability active node-2\n\n",
		"What would help most (stuck: 2 tasks of 2 services), each tried on a copy:\n  activate node-2: 2 services, 2 tasks\n",
	} {
		if status != 2 || !strings.Contains(stdout, want) {
			t.Errorf("status %d, does not say %q:\n%s%s", status, want, stdout, stderr)
		}
	}
}

// snapshotOf writes a snapshot of a swarm of these objects, and returns its path.
func snapshotOf(t *testing.T, objects []any) string {
	t.Helper()
	store := collector.NewStore()
	if err := store.Replace(objects); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "swarm.json")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	if err := errors.Join(snapshot.Write(file, store.Snapshot(), now), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
