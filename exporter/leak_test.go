package exporter

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
	"github.com/swarmdiag/swarmdiag/collector/snapshot"
)

// hunter is a secret as people put them into texts; what follows hunter2 is the path of the field that holds it.
const hunter = "hunter2-"

var hunterPath = regexp.MustCompile(hunter + `([A-Za-z.]+)`)

// shown may be shown as they are: they are identifiers, which the managers refuse when they hold more than letters, digits,
// dots, dashes and underscores, or which an operator needs to see to act.
var shown = []string{
	"Node.Description.Hostname", "Node.Description.Platform.Architecture", "Node.Description.Platform.OS",
	"Node.Description.Engine.EngineVersion", "Node.Description.Engine.Plugins.Name", "Node.Description.Engine.Plugins.Type",
	"Node.Description.Resources.Generic.Resource.NamedResourceSpec.Kind", "Node.Description.Resources.Generic.Resource.DiscreteResourceSpec.Kind",
}

// kept end the paths of what a snapshot must hold as it is, since filters compare it to the letter: identifiers, label
// keys, addresses, constraints, platforms, and the sources and targets of cluster volumes.
var kept = []string{
	".ID", ".Name", ".key", ".Addr", ".Addresses", ".Architecture", ".OS", ".EngineVersion", ".Type", ".Group", ".VolumeID", ".NodeID", ".ContainerID",
	".Kind", ".NamedResourceSpec.Value", ".Segments.value", ".Constraints", ".SpreadDescriptor", ".Networks.Target", ".Mounts.Target",
	".Volumes.Source", ".Volumes.Target", ".Hostname", ".PluginName",
}

func isShown(output, path string) bool {
	keeps := func(end string) bool { return strings.HasSuffix(path, end) }
	return slices.Contains(shown, path) || output == "snapshot" && slices.ContainsFunc(kept, keeps)
}

func TestNoSecretLeavesByAnyWay(t *testing.T) {
	t.Parallel()
	secret := func(path string) string {
		if strings.HasSuffix(path, ".Env") {
			return "DB_PASSWORD=" + hunter + path
		}
		return "--password=" + hunter + path
	}
	for variant := range collectortest.Variants {
		for name, text := range outputs(t, stuckWithSecrets(t, variant, secret)) {
			for _, found := range hunterPath.FindAllStringSubmatch(text, -1) {
				if path := strings.TrimSuffix(found[1], "."); !isShown(name, path) {
					t.Errorf("variant %d: the %s shows the text of %s", variant, name, path)
				}
			}
			if !strings.Contains(text, "web") {
				t.Errorf("variant %d: the %s does not speak of the service: nothing was tested\n%s", variant, name, text)
			}
		}
	}
}

// stuckWithSecrets is a state with a secret in every field, whose service waits for a node.
func stuckWithSecrets(t *testing.T, variant int, secret func(string) string) *collector.State {
	node := collectortest.Filled[api.Node](variant, secret)
	node.ID, node.Status.State = "node", api.NodeStatus_READY
	service := collectortest.Filled[api.Service](variant, secret)
	service.ID, service.Spec.Annotations.Name, service.PreviousSpec.Annotations.Name = "service", "web", "web"
	service.Spec.Annotations.Labels = map[string]string{"com.docker.stack.namespace": "shop", "traefik.auth": secret("Service.Spec.Annotations.Labels")}
	service.Spec.Mode = &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: 1}}
	task := collectortest.Filled[api.Task](variant, secret)
	task.ID, task.ServiceID, task.NodeID, task.ServiceAnnotations.Name = "task", "service", "", "web"
	task.Status.State, task.DesiredState, task.SpecVersion = api.TaskStatePending, api.TaskStateRunning, service.SpecVersion
	store := collector.NewStore()
	store.Describe(collector.About{Source: "watch", AsOf: start})
	objects := []any{node, service, task, collectortest.Filled[api.Network](variant, secret), collectortest.Filled[api.Volume](variant, secret)}
	if err := store.Put(objects...); err != nil {
		t.Fatal(err)
	}
	return store.Snapshot()
}

// outputs are all the ways by which something leaves, by name.
func outputs(t *testing.T, state *collector.State) map[string]string {
	now := start.Add(time.Hour * 24 * 3650)
	result := analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true})
	if len(result.Diagnoses) == 0 {
		t.Fatal("nothing is stuck: nothing was tested")
	}
	out := map[string]string{}
	write := func(name string, to func(*bytes.Buffer) error) {
		var text bytes.Buffer
		if err := to(&text); err != nil {
			t.Fatalf("write the %s: %v", name, err)
		}
		out[name] = text.String()
	}
	write("log", func(text *bytes.Buffer) error {
		log := NewLog(text)
		for _, event := range NewRecord(analyzer.ChangeOf).Update(result, state, now) {
			if err := log.Write(event); err != nil {
				return err
			}
		}
		return nil
	})
	write("report", func(text *bytes.Buffer) error { return Report(text, Redact(result), nil, true, false) })
	write("what is well", func(text *bytes.Buffer) error {
		for n := range state.Nodes() {
			for s := range state.Services() {
				well, err := WellOf(state, analyzer.Scope{Names: []string{s.ID}, Node: n.ID}, analyzer.Result{}, now) // as if nothing were stuck
				if err != nil {
					return err
				}
				if err := Report(text, analyzer.Result{}, well, true, false); err != nil {
					return err
				}
				if err := json.NewEncoder(text).Encode(well); err != nil {
					return err
				}
			}
		}
		return nil
	})
	write("JSON", func(text *bytes.Buffer) error { return json.NewEncoder(text).Encode(Redact(result)) })
	write("snapshot", func(text *bytes.Buffer) error { return snapshot.Write(text, state, now) })
	write("metrics", func(text *bytes.Buffer) error {
		metrics := NewMetrics("test", "test", func() *collector.State { return state }, func() time.Time { return now })
		metrics.Observe(result, state)
		metrics.Speaks(true)
		reply := httptest.NewRecorder()
		metrics.Handler().ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		_, err := text.ReadFrom(reply.Body)
		return err
	})
	return out
}
