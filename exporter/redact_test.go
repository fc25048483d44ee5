package exporter

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// planted is a text with a credential in it.
const planted = "password=hunter2"

// names are the fields that hold names, ids and words of ours, by their path. Every other string is free text.
var names = []string{
	"Cluster.ID", "Cluster.Name", "Cluster.Leader", "Cluster.EngineVersions", "Cluster.Source",
	"ID", "Subject.Kind", "Subject.ID", "Subject.Name", "Service", "Stack", "Task", "Impact", "State", "Component", "Severity",
	"Cause", "Shape", "Also.Cause", "Also.Shape", "Confidence",
	"Evidence.What", "Evidence.Unit", "Evidence.Node", "Evidence.Found.Nodes",
	"Evidence.Holders.Service", "Evidence.Holders.Task", "Evidence.Holders.Node",
	"Nodes.Names", "Nodes.Verdicts", "Nearest.Node", "Nearest.Fails", "Nearest.Short.What", "Nearest.Short.Unit",
	"Remedies.At", "Remedies.On", "Remedies.Risk", "HealsItself",
	"Incidents.ID", "Incidents.Subject.Kind", "Incidents.Subject.ID", "Incidents.Subject.Name", "Incidents.Cause",
	"Incidents.Diagnoses", "Incidents.Services",
}

func TestEveryFreeTextOfAResultIsRedacted(t *testing.T) {
	t.Parallel()
	var full analyzer.Result
	walk(reflect.ValueOf(&full).Elem(), "", func(v reflect.Value, _ string) { v.SetString(planted) })
	before := full.Diagnoses[0].Evidence[0].Wanted
	full.Diagnoses[0].Waiting = []*analyzer.Waiting{{}}
	redacted := Redact(full)
	if redacted.Diagnoses[0].Waiting != nil {
		t.Error("what the analyzer worked with is handed on")
	}
	seen := 0
	walk(reflect.ValueOf(&redacted).Elem(), "", func(v reflect.Value, path string) {
		seen++
		path = strings.TrimPrefix(strings.TrimPrefix(path, "Diagnoses."), "Ignored.")
		isName := slices.Contains(names, path) || slices.Contains(names, strings.TrimPrefix(path, "Also."))
		if leaks := strings.Contains(v.String(), "hunter2"); leaks != isName {
			t.Errorf("%s is %q: a name stays as it is, free text is redacted", path, v.String())
		}
	})
	if seen < 60 {
		t.Errorf("only %d strings were planted", seen)
	}
	if full.Diagnoses[0].Evidence[0].Wanted != before {
		t.Error("the result itself was changed")
	}
}

// walk visits every string below v by its path of fields. It fills what is empty with one element.
func walk(v reflect.Value, path string, visit func(reflect.Value, string)) {
	switch v.Kind() {
	case reflect.String:
		visit(v, path)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		walk(v.Elem(), path, visit)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			walk(v.Index(i), path, visit)
		}
	case reflect.Map:
		if v.Len() == 0 {
			v.Set(reflect.ValueOf(map[string]string{planted: planted}))
		}
		for _, key := range v.MapKeys() {
			visit(reflect.ValueOf(&[]string{v.MapIndex(key).String()}[0]).Elem(), path)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Tag.Get("json") != "-" {
				walk(v.Field(i), strings.TrimPrefix(path+"."+field.Name, "."), visit)
			}
		}
	}
}

func TestAConstraintThatIsBehindAnIncidentIsRedacted(t *testing.T) {
	t.Parallel()
	subject := analyzer.Subject{Kind: analyzer.ConstraintSubject, Name: "node.labels." + planted}
	redacted := Redact(analyzer.Result{Incidents: []analyzer.Incident{{Subject: subject}}})
	if name := redacted.Incidents[0].Subject.Name; strings.Contains(name, "hunter2") {
		t.Errorf("the subject is named %q", name)
	}
}

func TestWhatIsAbsentStaysAbsent(t *testing.T) {
	t.Parallel()
	redacted := Redact(analyzer.Result{Diagnoses: []analyzer.Diagnosis{{Evidence: []analyzer.Evidence{}}}})
	d := redacted.Diagnoses[0]
	if redacted.Ignored != nil || d.Nodes != nil || d.LastChange != nil || d.Evidence == nil {
		t.Errorf("got %s", cmp.Diff(nil, d.Evidence))
	}
}
