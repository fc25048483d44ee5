package exporter

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

// speaking returns metrics of a swarm one minute after the start, of an agent that speaks.
func speaking(s *swarm) *Metrics {
	m := NewMetrics("1.2.3", "abcdef", s.Snapshot, func() time.Time { return start.Add(time.Minute) })
	m.Source("watch", true)
	m.Speaks(true)
	return m
}

// busy is a swarm with something for every series.
func busy(t *testing.T) *swarm {
	s := newSwarm(t)
	s.put(
		node("node-2", func(n *api.Node) {
			n.Description.Resources.Generic = append(genericresource.NewSet("gpu", "a", "b"), genericresource.NewDiscrete("ssd", 4))
		}),
		node("node-3", drained),
		node("node-1", func(n *api.Node) { n.ID = "twin"; n.Description.Resources.MemoryBytes = 2 << 30 }),
	)
	reserve := func(t *api.Task) {
		t.Spec.Resources = &api.ResourceRequirements{Reservations: &api.Resources{
			MemoryBytes: 5 << 30, NanoCPUs: 1500000000, Generic: []*api.GenericResource{genericresource.NewDiscrete("ssd", 3)},
		}}
	}
	s.task("running", "id-of-node-2", api.TaskStateRunning, start, reserve)
	s.task("old", "id-of-node-2", api.TaskStateFailed, start)
	s.task("pending-1", "", api.TaskStatePending, start.Add(50*time.Second))
	s.task("pending-2", "", api.TaskStatePending, start, func(t *api.Task) { t.Meta.CreatedAt = proto(start.Add(20 * time.Second)) })
	s.task("preparing", "id-of-node-1", api.TaskStatePreparing, start.Add(30*time.Second))
	s.task("of-a-removed-service", "id-of-node-1", api.TaskStateFailed, start, func(t *api.Task) { t.ServiceID = "gone" })
	return s
}

func TestMetricsOfTheCluster(t *testing.T) {
	t.Parallel()
	s := busy(t)
	m := speaking(s)
	passing := diagnosed("global-node-excluded", func(d *analyzer.Diagnosis) { d.Severity, d.Component = analyzer.Info, analyzer.Orchestrator })
	none := diagnosed("no-eligible-node", func(d *analyzer.Diagnosis) {
		d.Service, d.Tasks, d.Wanted, d.Component = "everywhere", 0, 3, analyzer.Orchestrator
	})
	found := result(diagnosed(memory), diagnosed(memory, func(d *analyzer.Diagnosis) { d.ID, d.Tasks = "previous spec", 1 }), passing, none)
	found.Ignored = []analyzer.Diagnosis{diagnosed(constraint)}
	m.Observe(found, s.Snapshot())
	want := `
# HELP swarmdiag_diagnoses Open diagnoses.
# TYPE swarmdiag_diagnoses gauge
swarmdiag_diagnoses{cause="global-node-excluded",component="orchestrator",severity="info"} 1
swarmdiag_diagnoses{cause="insufficient-memory",component="scheduler",severity="critical"} 2
swarmdiag_diagnoses{cause="no-eligible-node",component="orchestrator",severity="critical"} 1
# HELP swarmdiag_fragmentation_ratio 1 less the largest amount free on a ready, active node divided by what is free on all of them: near 0 one node has nearly all, near 1 it is scattered. Absent where nothing is free.
# TYPE swarmdiag_fragmentation_ratio gauge
swarmdiag_fragmentation_ratio{resource="cpu"} 0.6190476190476191
swarmdiag_fragmentation_ratio{resource="memory"} 0.3846153846153846
# HELP swarmdiag_ignored_tasks Tasks that are stuck and that a label silences.
# TYPE swarmdiag_ignored_tasks gauge
swarmdiag_ignored_tasks{cause="placement-constraint",service="web"} 3
# HELP swarmdiag_node_free_bytes Memory of the node that no task reserves, in bytes; negative where more is reserved than there is.
# TYPE swarmdiag_node_free_bytes gauge
swarmdiag_node_free_bytes{node="node-1 (id-of-node-1)"} 8.589934592e+09
swarmdiag_node_free_bytes{node="node-1 (twin)"} 2.147483648e+09
swarmdiag_node_free_bytes{node="node-2"} 3.221225472e+09
swarmdiag_node_free_bytes{node="node-3"} 8.589934592e+09
# HELP swarmdiag_node_generic_resources_free Generic resources of the node that no task reserves.
# TYPE swarmdiag_node_generic_resources_free gauge
swarmdiag_node_generic_resources_free{kind="gpu",node="node-2"} 2
swarmdiag_node_generic_resources_free{kind="ssd",node="node-2"} 1
# HELP swarmdiag_node_reserved_cores CPU of the node that tasks reserve, in cores.
# TYPE swarmdiag_node_reserved_cores gauge
swarmdiag_node_reserved_cores{node="node-1 (id-of-node-1)"} 0
swarmdiag_node_reserved_cores{node="node-1 (twin)"} 0
swarmdiag_node_reserved_cores{node="node-2"} 1.5
swarmdiag_node_reserved_cores{node="node-3"} 0
# HELP swarmdiag_source_connected Whether the agent's source of the cluster's state answers.
# TYPE swarmdiag_source_connected gauge
swarmdiag_source_connected{source="watch"} 1
# HELP swarmdiag_speaker 1 on the agent that speaks for the cluster, else 0. Series about the cluster come from it alone.
# TYPE swarmdiag_speaker gauge
swarmdiag_speaker 1
# HELP swarmdiag_state_age_seconds How long ago the agent's state last agreed with the managers.
# TYPE swarmdiag_state_age_seconds gauge
swarmdiag_state_age_seconds 60
# HELP swarmdiag_stuck_tasks Tasks that are stuck past their threshold, each under one cause; where none exists for a service, the replicas that it lacks. What is so by intent or passing is left out.
# TYPE swarmdiag_stuck_tasks gauge
swarmdiag_stuck_tasks{cause="insufficient-memory",service="web"} 4
swarmdiag_stuck_tasks{cause="no-eligible-node",service="everywhere"} 3
# HELP swarmdiag_task_state_seconds How long the tasks that should run and do not yet have been in their state now: the median, the ninth decile and the longest of this moment, their sum and number. New, allocated and pending tasks count from their creation.
# TYPE swarmdiag_task_state_seconds summary
swarmdiag_task_state_seconds{state="pending",quantile="0.5"} 40
swarmdiag_task_state_seconds{state="pending",quantile="0.9"} 60
swarmdiag_task_state_seconds{state="pending",quantile="1"} 60
swarmdiag_task_state_seconds_sum{state="pending"} 100
swarmdiag_task_state_seconds_count{state="pending"} 2
swarmdiag_task_state_seconds{state="preparing",quantile="0.5"} 30
swarmdiag_task_state_seconds{state="preparing",quantile="0.9"} 30
swarmdiag_task_state_seconds{state="preparing",quantile="1"} 30
swarmdiag_task_state_seconds_sum{state="preparing"} 30
swarmdiag_task_state_seconds_count{state="preparing"} 1
# HELP swarmdiag_tasks Tasks of existing services by observed state, ended ones that Swarm still remembers included.
# TYPE swarmdiag_tasks gauge
swarmdiag_tasks{service="web",state="failed"} 1
swarmdiag_tasks{service="web",state="pending"} 2
swarmdiag_tasks{service="web",state="preparing"} 1
swarmdiag_tasks{service="web",state="running"} 1
`
	if err := testutil.CollectAndCompare(m, strings.NewReader(want),
		"swarmdiag_diagnoses", "swarmdiag_fragmentation_ratio", "swarmdiag_ignored_tasks", "swarmdiag_node_free_bytes",
		"swarmdiag_node_generic_resources_free", "swarmdiag_node_reserved_cores", "swarmdiag_source_connected", "swarmdiag_speaker",
		"swarmdiag_state_age_seconds", "swarmdiag_stuck_tasks", "swarmdiag_task_state_seconds", "swarmdiag_tasks",
	); err != nil {
		t.Error(err)
	}
}

func TestMetricsAreWellNamedAndConsistent(t *testing.T) {
	t.Parallel()
	s := busy(t)
	m := speaking(s)
	m.Observe(result(diagnosed(memory)), s.Snapshot())
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestSeriesOfGoneObjectsAreGone(t *testing.T) {
	t.Parallel()
	s := busy(t)
	m := speaking(s)
	m.Observe(result(diagnosed(memory)), s.Snapshot())
	if n := testutil.CollectAndCount(m, "swarmdiag_tasks", "swarmdiag_stuck_tasks"); n != 5 {
		t.Fatalf("%d series, want 5", n)
	}
	s.remove(service("web"), node("node-3"))
	m.Observe(result(), s.Snapshot())
	if n := testutil.CollectAndCount(m, "swarmdiag_tasks", "swarmdiag_stuck_tasks"); n != 0 {
		t.Errorf("%d series of a removed service are left", n)
	}
	if n := testutil.CollectAndCount(m, "swarmdiag_node_total_bytes"); n != 3 {
		t.Errorf("%d nodes, want 3", n)
	}
}

func TestAnAgentThatDoesNotSpeakShowsOnlyItself(t *testing.T) {
	t.Parallel()
	s := busy(t)
	m := speaking(s)
	m.Observe(result(diagnosed(memory)), s.Snapshot())
	m.Speaks(false)
	// speaker, source, age, build
	if n := testutil.CollectAndCount(m); n != 4 {
		t.Errorf("%d series, want 4", n)
	}
}

func TestAnAgentWithoutAStateStillAnswers(t *testing.T) {
	t.Parallel()
	m := NewMetrics("1.2.3", "abcdef", collector.NewStore().Snapshot, time.Now)
	m.Speaks(true)
	response := httptest.NewRecorder()
	m.Handler().ServeHTTP(response, httptest.NewRequest("GET", "/metrics", nil))
	body := response.Body.String()
	if !strings.Contains(body, `swarmdiag_build_info{goversion="go`) || !strings.Contains(body, "go_goroutines") || strings.Contains(body, "state_age") {
		t.Errorf("got %s", body)
	}
}

func TestScheduleLatency(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	s := &swarm{t: t, Store: collector.NewStore()}
	m := speaking(s)
	observe := func() { m.Observe(result(), s.Snapshot()) }

	observe() // no state yet: what comes with the first whole one is not new
	s.put(service("web"), node("node-1"), node("node-2"))
	s.task("from-before", "id-of-node-1", api.TaskStateRunning, at(9))
	s.Confirm(start)
	observe()
	s.task("waits", "", api.TaskStatePending, at(1))
	s.task("assigned-at-once", "id-of-node-1", api.TaskStateAssigned, at(0.05))
	s.task("never-assigned", "id-of-node-1", api.TaskStateShutdown, at(3))
	observe()
	s.task("waits", "id-of-node-2", api.TaskStateAssigned, at(7))
	s.task("assigned-at-once", "id-of-node-1", api.TaskStateRunning, at(8)) // counted already
	s.task("from-before", "id-of-node-1", api.TaskStateFailed, at(20))
	observe()
	observe()
	want := `
# HELP swarmdiag_task_schedule_latency_seconds How long tasks waited from their creation until they were assigned to a node. Tasks that were assigned before the agent started are not in it.
# TYPE swarmdiag_task_schedule_latency_seconds histogram
swarmdiag_task_schedule_latency_seconds_bucket{le="0.1"} 1
swarmdiag_task_schedule_latency_seconds_bucket{le="0.5"} 1
swarmdiag_task_schedule_latency_seconds_bucket{le="1"} 1
swarmdiag_task_schedule_latency_seconds_bucket{le="2.5"} 1
swarmdiag_task_schedule_latency_seconds_bucket{le="5"} 1
swarmdiag_task_schedule_latency_seconds_bucket{le="10"} 2
swarmdiag_task_schedule_latency_seconds_bucket{le="60"} 2
swarmdiag_task_schedule_latency_seconds_bucket{le="600"} 2
swarmdiag_task_schedule_latency_seconds_bucket{le="+Inf"} 2
swarmdiag_task_schedule_latency_seconds_sum 7.05
swarmdiag_task_schedule_latency_seconds_count 2
`
	if err := testutil.CollectAndCompare(m, strings.NewReader(want), "swarmdiag_task_schedule_latency_seconds"); err != nil {
		t.Error(err)
	}
}
