package exporter

import (
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// start is when every test begins.
var start = time.Date(2024, 3, 1, 3, 0, 0, 0, time.UTC)

var drained, proto = collectortest.Drained, collectortest.Stamp

// swarm is a store that a test changes as managers would.
type swarm struct {
	t *testing.T
	*collector.Store
	version uint64
}

// newSwarm returns a swarm of three nodes with 8 GiB and 4 cores each, and a service web without tasks.
func newSwarm(t *testing.T) *swarm {
	s := &swarm{t: t, Store: collector.NewStore()}
	s.Describe(collector.About{Source: "watch", ClusterID: "cluster", AsOf: start})
	s.put(node("node-1"), node("node-2"), node("node-3"), service("web"))
	return s
}

func (s *swarm) put(objects ...any) {
	s.t.Helper()
	if err := s.Put(objects...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *swarm) remove(objects ...any) {
	s.t.Helper()
	if err := s.Remove(objects...); err != nil {
		s.t.Fatal(err)
	}
}

// task puts a task of web on a node, as new as the state.
func (s *swarm) task(id, nodeID string, state api.TaskState, at time.Time, change ...func(*api.Task)) {
	s.t.Helper()
	s.version++
	t := &api.Task{
		ID: id, ServiceID: "web", NodeID: nodeID, DesiredState: api.TaskStateRunning,
		Meta:   api.Meta{Version: api.Version{Index: s.version}, CreatedAt: proto(start)},
		Status: api.TaskStatus{State: state, Timestamp: proto(at)},
	}
	for _, c := range change {
		c(t)
	}
	s.put(t)
}

func node(name string, change ...func(*api.Node)) *api.Node {
	return collectortest.NamedNode("id-of-"+name, name, change...)
}

func unknown(n *api.Node) {
	n.Status.State = api.NodeStatus_UNKNOWN
	n.Status.Message = `Node moved to "unknown" state due to leadership change in cluster`
}

func service(name string, change ...func(*api.Service)) *api.Service {
	s := &api.Service{ID: name, Spec: api.ServiceSpec{Annotations: api.Annotations{Name: name}}}
	for _, c := range change {
		c(s)
	}
	return s
}

// reserving makes a service reserve memory.
func reserving(bytes int64) func(*api.Service) {
	return func(s *api.Service) {
		s.Spec.Task.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: bytes}}
	}
}

// diagnosed is a diagnosis of web, stuck since the start.
func diagnosed(cause string, change ...func(*analyzer.Diagnosis)) analyzer.Diagnosis {
	d := analyzer.Diagnosis{
		ID: "web " + cause, Subject: analyzer.Subject{Kind: analyzer.ServiceSubject, ID: "web", Name: "web"},
		Service: "web", Task: "task-1", Tasks: 3, Wanted: 3, Impact: analyzer.Down, State: "pending", Since: start,
		Component: analyzer.Scheduler, Severity: analyzer.Critical, Cause: cause,
		Also: []analyzer.Also{}, Evidence: []analyzer.Evidence{}, Check: []analyzer.Check{},
		Summary: "web is down: " + cause, Confidence: analyzer.Certain, Monitor: 5 * time.Second,
	}
	for _, c := range change {
		c(&d)
	}
	return d
}

func result(diagnoses ...analyzer.Diagnosis) analyzer.Result {
	return analyzer.Result{Cluster: analyzer.Cluster{Nodes: 3}, Diagnoses: diagnoses, Blind: []string{}}
}
