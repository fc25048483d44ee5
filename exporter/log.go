package exporter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
	"github.com/swarmdiag/swarmdiag/collector/redact"
)

// longestLine is how many bytes Docker keeps together: its log drivers cut a longer line, and docker service logs shows the
// pieces as lines of their own (daemon/logger.Copier).
const longestLine = 16 << 10

// Log writes events, a line each.
type Log struct {
	filter map[string]string // the filter that a cause speaks of, by cause
	encode func(line) ([]byte, error)

	mu  sync.Mutex // protects out
	out io.Writer
}

// NewLog returns a log of JSON that writes each line with one call to out.
func NewLog(out io.Writer) *Log { return &Log{filter: filtersByCause(), encode: encode, out: out} }

// NewTextLog returns a log for a person at a terminal: time, event and sentence.
func NewTextLog(out io.Writer) *Log { return &Log{encode: encodeText, out: out} }

// line is what one event looks like.
type line struct {
	Time      time.Time           `json:"time"`
	Level     string              `json:"level"`
	Msg       string              `json:"msg"`
	Component analyzer.Component  `json:"component,omitempty"`
	Filter    string              `json:"filter,omitempty"`
	Verdict   string              `json:"verdict,omitempty"`
	Event     EventKind           `json:"event"`
	Service   string              `json:"service,omitempty"`
	Task      string              `json:"task,omitempty"`
	Was       string              `json:"was,omitempty"`
	Lasted    *float64            `json:"lasted,omitempty"`
	By        string              `json:"by,omitempty"`
	Open      map[string]int      `json:"open,omitempty"`
	Diagnosis *analyzer.Diagnosis `json:"diagnosis,omitempty"`
}

// Write writes one event. Its text is redacted; a diagnosis that makes a line of JSON too long for Docker is cut, first its nodes.
func (l *Log) Write(event Event) error {
	text, err := l.encode(l.line(event))
	if err != nil {
		return fmt.Errorf("encode %s event: %w", event.Kind, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.out.Write(text); err != nil {
		return fmt.Errorf("write %s event: %w", event.Kind, err)
	}
	return nil
}

func (l *Log) line(event Event) line {
	if event.Kind == Takeover {
		return line{Time: event.At.UTC(), Level: "info", Msg: takeoverMsg(event.Open), Event: event.Kind, Open: event.Open}
	}
	d := redactDiagnosis(event.Diagnosis)
	out := line{
		Time: event.At.UTC(), Level: level(d.Severity), Msg: d.Summary, Component: d.Component, Filter: l.filter[d.Cause],
		Event: event.Kind, Service: d.Service, Task: d.Task, Was: event.Was, Diagnosis: &d,
	}
	if event.Kind == Resolved {
		lasted := event.Lasted.Seconds()
		out.Level, out.Lasted, out.By = "info", &lasted, redact.Text(event.By)
		out.Msg = resolvedMsg(&d, event.Lasted.Round(time.Second), out.By)
	} else if out.Filter != "" {
		out.Verdict = "reject"
	}
	return out
}

func resolvedMsg(d *analyzer.Diagnosis, lasted time.Duration, by string) string {
	if by == silenced {
		return fmt.Sprintf("%s: %s is silenced by a label after %s and still holds: nothing is said of it while the label is there", d.Subject.Name, d.Cause, lasted)
	}
	return fmt.Sprintf("%s: %s resolved after %s: %s", d.Subject.Name, d.Cause, lasted, by)
}

func takeoverMsg(open map[string]int) string {
	total := 0
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(open)) {
		total += open[cause]
		parts = append(parts, fmt.Sprintf("%d %s", open[cause], cause))
	}
	if total == 0 {
		return "this agent speaks for the cluster now; nothing is open"
	}
	return fmt.Sprintf("this agent speaks for the cluster now; %d open: %s", total, strings.Join(parts, ", "))
}

// level is the log level of a severity, as logrus spells it.
func level(severity analyzer.Severity) string {
	switch severity {
	case analyzer.Critical:
		return "error"
	case analyzer.Warning:
		return "warning"
	}
	return "info"
}

// filtersByCause finds the filter that each rule speaks of.
func filtersByCause() map[string]string {
	byCause := map[string]string{}
	for _, rule := range analyzer.Rules() {
		if rule.Rejects == nil {
			continue
		}
		for _, reason := range reasons() {
			if rule.Rejects(reason) {
				byCause[rule.Cause] = reason.Filter.String()
				break
			}
		}
	}
	return byCause
}

// reasons are one of each kind for which a node can refuse a task.
func reasons() []filters.Reason {
	var all []filters.Reason
	for _, filter := range filters.All() {
		if filter != filters.Resources {
			all = append(all, filters.Reason{Filter: filter})
			continue
		}
		for _, what := range []string{filters.Memory, filters.CPU, filters.GenericPrefix} {
			all = append(all, filters.Reason{Filter: filter, What: what})
		}
	}
	return all
}

func encodeText(l line) ([]byte, error) {
	return fmt.Appendf(nil, "%s %-8s %s\n", l.Time.Format(time.TimeOnly), l.Event, strings.ReplaceAll(l.Msg, "\n", " ")), nil
}

// encode writes a line, cut as little as it takes to fit.
func encode(l line) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // people read "2 GiB -> 12 GiB"
	if err := encoder.Encode(l); err != nil {
		return nil, err
	}
	for _, cut := range cuts {
		if text.Len() <= longestLine {
			break
		}
		cut(&l)
		text.Reset()
		if err := encoder.Encode(l); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}
