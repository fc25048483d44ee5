package exporter

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/capacity"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Bounds of a scrape.
const (
	scrapesAtOnce = 4
	scrapeTime    = 10 * time.Second
)

var (
	speakerDesc = describe("speaker", "1 on the agent that speaks for the cluster, else 0. Series about the cluster come from it alone.")
	sourceDesc  = describe("source_connected", "Whether the agent's source of the cluster's state answers.", "source")
	ageDesc     = describe("state_age_seconds", "How long ago the agent's state last agreed with the managers.")
	buildDesc   = describe("build_info", "The version of the agent; always 1.", "version", "revision", "goversion")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("swarmdiag", "", name), help, labels, nil)
}

// Metrics are what the agent shows to Prometheus. Every series is made at the scrape from the state and the result of that
// moment, so that none outlives its object. An agent that does not speak shows only what is its own.
type Metrics struct {
	version, revision string
	latest            func() *collector.State
	now               func() time.Time

	mu        sync.Mutex // protects all following fields
	result    analyzer.Result
	capacity  capacity.Report
	speaks    bool
	source    string
	connected bool
	latency   *latency
}

// NewMetrics returns metrics of a state that latest returns at any moment.
func NewMetrics(version, revision string, latest func() *collector.State, now func() time.Time) *Metrics {
	return &Metrics{version: version, revision: revision, latest: latest, now: now, latency: newLatency()}
}

// Observe takes a result, and the state that it is of. It sees every task that is placed between two calls, in whatever
// state, and should be called at every look.
func (m *Metrics) Observe(result analyzer.Result, state *collector.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.result = result
	m.latency.observe(state)
}

// Speaks sets whether this agent speaks for the cluster.
func (m *Metrics) Speaks(speaks bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.speaks = speaks
}

// Source sets which source the state comes from and whether it answers.
func (m *Metrics) Source(source string, connected bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.source, m.connected = source, connected
}

// Handler serves the metrics, with those of the process beside them.
func (m *Metrics) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce, Timeout: scrapeTime})
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(out chan<- *prometheus.Desc) {
	for _, group := range [][]*prometheus.Desc{{speakerDesc, sourceDesc, ageDesc, buildDesc}, diagnosisDescs, taskDescs, nodeDescs, capacityDescs} {
		for _, desc := range group {
			out <- desc
		}
	}
	m.latency.Describe(out)
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	result, report, speaks, source, connected := m.result, m.capacity, m.speaks, m.source, m.connected
	m.mu.Unlock()

	gauge(out, buildDesc, 1, m.version, m.revision, runtime.Version())
	gauge(out, speakerDesc, number(speaks))
	if source != "" {
		gauge(out, sourceDesc, number(connected), source)
	}
	state, now := m.latest(), m.now()
	if state.AsOf.IsZero() {
		return
	}
	gauge(out, ageDesc, max(0, now.Sub(state.AsOf).Seconds()))
	if speaks {
		collectDiagnoses(out, result)
		collectTasks(out, state, now)
		nodes := filters.NewCluster(state).Nodes()
		collectNodes(out, nodes)
		collectCapacity(out, report, state, nodes)
		m.latency.Collect(out)
	}
}

func gauge(out chan<- prometheus.Metric, desc *prometheus.Desc, value float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
