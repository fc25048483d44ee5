package embedded

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types/swarm"
	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
)

// sentences are swarmkit's own words for each stuck service once the scheduler has looked at every node.
var sentences = map[string]string{
	"label-key-case":             "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
	"label-key-misspelt":         "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
	"label-prefix-missing":       "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
	"engine-label-as-node-label": "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
	"constraint-key-unknown":     "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
	"constraints-contradict":     "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
	"architecture-alias":         "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
	"memory-too-large":           "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"memory-fragmented":          "no suitable node (insufficient resources on 4 nodes; 1 node not available for new tasks; scheduling constraints not satisfied on 1 node)",
	"memory-exhausted":           "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"cpu-too-large":              "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"cpu-fragmented":             "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"cpu-exhausted":              "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"generic-not-advertised":     "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"generic-too-large":          "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"generic-fragmented":         "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"generic-exhausted":          "no suitable node (insufficient resources on 5 nodes; 1 node not available for new tasks)",
	"volume-driver-missing":      "no suitable node (missing plugin on 5 nodes; 1 node not available for new tasks)",
	"log-driver-missing":         "no suitable node (missing plugin on 5 nodes; 1 node not available for new tasks)",
	"platform-mismatch":          "no suitable node (scheduling constraints not satisfied on 3 nodes; unsupported platform on 2 nodes; 1 node not available for new tasks)",
	"cluster-volume-unavailable": "no suitable node (cannot fulfill requested CSI volume mounts on 5 nodes; 1 node not available for new tasks)",
	"host-port-taken":            "no suitable node (host-mode port already in use on 5 nodes; 1 node not available for new tasks)",
	"max-replicas-reached":       "no suitable node (scheduling constraints not satisfied on 3 nodes; max replicas per node limit exceed; 1 node not available for new tasks)",
	"no-available-node":          "no suitable node (scheduling constraints not satisfied on 5 nodes; 1 node not available for new tasks)",
}

func TestAReadySwarmIsAsPlanted(t *testing.T) {
	control, _ := startSwarm(t, t.TempDir())
	t.Run("every stuck service is stuck in swarmkit's own words", func(t *testing.T) { expectSentences(t, control) })
	t.Run("every healthy service runs whole", func(t *testing.T) { expectHealthy(t, control) })
	t.Run("every shape follows from what the data nodes hold", func(t *testing.T) { expectShapes(t, control) })
	t.Run("the volume exists and is paused", func(t *testing.T) { expectPausedVolume(t, control) })
}

func TestEveryFaultHasItsSentenceAndAName(t *testing.T) {
	want := slices.Sorted(maps.Keys(sentences))
	var got []string
	for _, planted := range Faults() {
		if planted.Cause != "no-eligible-node" {
			got = append(got, planted.Service)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stuck services with a pending task (-want +got):\n%s", diff)
	}
}

// expectSentences waits until the pending tasks' texts are those of sentences: the scheduler's first text for a service of which
// some tasks were placed covers only some nodes, and is mended by its next pass.
func expectSentences(t *testing.T, control api.ControlClient) {
	const limit = 5 * time.Second
	var got map[string]string
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(pollInterval) {
		got = map[string]string{}
		for _, task := range tasks(t, control) {
			if task.Status.State == api.TaskStatePending {
				got[task.ServiceAnnotations.Name] = task.Status.Err
			}
		}
		if cmp.Equal(sentences, got) {
			return
		}
	}
	t.Errorf("pending tasks (-want +got):\n%s", cmp.Diff(sentences, got))
}

func expectHealthy(t *testing.T, control api.ControlClient) {
	running := map[string]int{}
	for _, task := range tasks(t, control) {
		if task.Status.State == api.TaskStateRunning {
			running[task.ServiceAnnotations.Name]++
		}
	}
	want := map[string]int{"web": 3, "api": 2, "metrics": 5, "proxy": 5, "db": 2, "trainer": 2, "max-replicas-reached": 2}
	if diff := cmp.Diff(want, running); diff != "" {
		t.Errorf("running tasks (-want +got):\n%s", diff)
	}
}

// expectShapes holds the shape of each resource fault against the definition: sums and maxima over the nodes that its
// constraint leaves, as the managers have them.
func expectShapes(t *testing.T, control api.ControlClient) {
	totals, frees := dataNodes(t, control)
	checked := 0
	for _, f := range faults() {
		asked := f.spec.TaskTemplate.Resources.Reservations
		if f.shape == "" {
			continue
		}
		checked++
		what, amount := single(asked)
		maxTotal, maxFree, sumFree := int64(0), int64(0), int64(0)
		for i := range totals {
			maxTotal = max(maxTotal, totals[i][what])
			maxFree = max(maxFree, frees[i][what])
			sumFree += frees[i][what]
		}
		var shape string
		switch {
		case maxTotal == 0:
			shape = "not-advertised"
		case amount > maxTotal:
			shape = "too-large"
		case amount > sumFree:
			shape = "exhausted"
		case amount > maxFree:
			shape = "fragmented"
		}
		if shape != f.shape {
			t.Errorf("%s is %q, planted as %q (asked %d; total %d, free %d at most on a node, %d in all)",
				f.spec.Name, shape, f.shape, amount, maxTotal, maxFree, sumFree)
		}
	}
	if checked != 10 {
		t.Errorf("%d faults have a shape, want 10", checked)
	}
}

// single is the one resource that is asked, by name, and its amount.
func single(asked *swarm.Resources) (what string, amount int64) {
	switch {
	case asked.MemoryBytes > 0:
		return "memory", asked.MemoryBytes
	case asked.NanoCPUs > 0:
		return "cpu", asked.NanoCPUs
	default:
		kind := asked.GenericResources[0].DiscreteResourceSpec
		return kind.Kind, kind.Value
	}
}

// dataNodes are the totals and the free amounts of each node with the label tier=data.
func dataNodes(t *testing.T, control api.ControlClient) (totals, frees []map[string]int64) {
	t.Helper()
	nodes, err := control.ListNodes(t.Context(), &api.ListNodesRequest{
		Filters: &api.ListNodesRequest_Filters{NodeLabels: map[string]string{"tier": "data"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := tasks(t, control)
	for _, n := range nodes.Nodes {
		r := n.Description.Resources
		total := map[string]int64{"memory": r.MemoryBytes, "cpu": r.NanoCPUs, "gpu": count("gpu", r.Generic)}
		free := maps.Clone(total)
		for _, task := range all {
			if held := task.Spec.Resources.Reservations; task.NodeID == n.ID {
				free["memory"] -= held.MemoryBytes
				free["cpu"] -= held.NanoCPUs
				free["gpu"] -= count("gpu", task.AssignedGenericResources)
			}
		}
		totals, frees = append(totals, total), append(frees, free)
	}
	return totals, frees
}

// count is the number of named resources of a kind.
func count(kind string, resources []*api.GenericResource) int64 {
	return int64(len(genericresource.GetResource(kind, resources)))
}

func expectPausedVolume(t *testing.T, control api.ControlClient) {
	volumes, err := control.ListVolumes(t.Context(), &api.ListVolumesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(volumes.Volumes) != 1 {
		t.Fatalf("%d volumes, want 1", len(volumes.Volumes))
	}
	v := volumes.Volumes[0]
	if v.VolumeInfo == nil || v.VolumeInfo.VolumeID == "" {
		t.Error("the driver has not created the volume")
	}
	if v.Spec.Availability != api.VolumeAvailabilityPause {
		t.Errorf("availability is %v, want pause", v.Spec.Availability)
	}
}

// tasks lists the tasks of all services.
func tasks(t *testing.T, control api.ControlClient) []*api.Task {
	t.Helper()
	list, err := control.ListTasks(t.Context(), &api.ListTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Tasks
}
