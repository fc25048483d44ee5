//go:build live

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"context"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// threshold is the default one of pending, and promptly how much later than that a line may come.
const (
	threshold = 10 * time.Second
	promptly  = 2 * time.Second
)

func TestEverySchedulerFaultIsNamedProvenAndResolved(t *testing.T) {
	r := newRig(t, "e2e")
	r.deploy()
	r.sh(prepare)
	r.eventually(2*time.Minute, func() error { return r.running(wellServices...) })

	asPrepared := r.nodeSpecs()
	planted := faults()
	for _, f := range planted {
		r.make(f)
	}
	planted = append(planted, r.createForOtherPlatform())

	r.eventually(time.Minute, func() error { return r.allSaid("stuck", planted) })
	events := r.events()
	for _, f := range planted {
		t.Run(f.service+" is named", func(t *testing.T) { r.with(t).isNamed(f, events) })
	}
	for _, service := range wellServices {
		if blamed := of(events, "stuck", service); len(blamed) > 0 {
			t.Errorf("%s is well and is called %s", service, blamed[0].Diagnosis.Cause)
		}
	}
	t.Run("the Engine API and the control socket give the same diagnoses", func(t *testing.T) {
		r.with(t).bothSourcesAgree()
	})
	t.Run("metrics count every stuck task", func(t *testing.T) { r.with(t).metricsCount(planted) })

	for _, f := range planted {
		t.Run(f.service+" heals by its remedy", func(t *testing.T) { r.with(t).healByRemedy(f) })
	}
	r.areResolved(planted)
	for _, f := range planted {
		r.sh("docker service rm " + f.service)
	}
	r.restore(asPrepared)
	t.Run("a task that the scheduler forgot is named, and placed by a nudge that restarts nothing", func(t *testing.T) { r.with(t).forgottenTask() })
	t.Run("a task for which another one has to move is placed by the move, which restarts that one alone", func(t *testing.T) { r.with(t).movedTask() })
	t.Run("jobs that cannot be placed complete by their remedies, which say what they repeat", func(t *testing.T) { r.with(t).jobs() })
	t.Run("a node becomes a worker and a manager again where that places a task", func(t *testing.T) { r.with(t).roles() })
	for _, f := range append(planted, moreFaults()...) {
		if !f.unproven && !isShort() {
			t.Run(f.service+" heals by each other remedy", func(t *testing.T) { r.with(t).otherRemedies(f, asPrepared) })
		}
	}
	t.Run("a task that the scheduler looks at no more is named, and placed by the remedy", func(t *testing.T) { r.with(t).staleTask() })
	t.Run("a node that is drained or paused is named, with which of these", func(t *testing.T) {
		r.with(t).unavailableNode()
	})
	t.Run("what ran on a node that goes down heals when that is back", func(t *testing.T) { r.with(t).nodeGoesDown() })
	t.Run("with the leader drained an agent on a follower speaks", func(t *testing.T) {
		r.with(t).drainedLeader()
	})
}

// areResolved waits until the log says of every fault that it is, and sees that it says each once.
func (r *rig) areResolved(planted []fault) {
	r.eventually(2*time.Minute, func() error { return r.allSaid("resolved", planted) })
	events := r.events()
	for _, f := range planted {
		if n := len(of(events, "stuck", f.service)); n != 1 {
			r.t.Errorf("%s has %d stuck lines, want one", f.service, n)
		}
		if e := of(events, "resolved", f.service)[0]; e.Lasted == nil || *e.Lasted < threshold.Seconds() || e.By == "" {
			r.t.Errorf("%s: the resolved line lacks how long it lasted or what ended it: %+v", f.service, e)
		}
	}
	if result, status := r.why(""); status != 0 || len(result.Diagnoses) != 0 {
		r.t.Errorf("after all is healed why exits with %d and finds %s", status, causes(result))
	}
}

// running tells which of the services do not have all tasks running.
func (r *rig) running(services ...string) error {
	for _, line := range strings.Split(r.docker(1, "service", "ls", "--format", "{{.Name}} {{.Replicas}}"), "\n") {
		name, replicas, _ := strings.Cut(line, " ")
		run, wanted, _ := strings.Cut(strings.Fields(replicas + " ")[0], "/")
		if slices.Contains(services, name) && run != wanted {
			return fmt.Errorf("%s has %s tasks", name, replicas)
		}
	}
	return nil
}

// createForOtherPlatform makes a service for arm64, as the client does for an image that is built for nothing else.
func (r *rig) createForOtherPlatform() fault {
	const service = "platform"
	spec := func(platforms string) string {
		return `{"Name":"` + service + `","TaskTemplate":{"ContainerSpec":{"Image":"demo:1"},"Placement":{"Platforms":[` + platforms + `]}},"Mode":{"Replicated":{"Replicas":1}}}`
	}
	r.post("/services/create", spec(`{"Architecture":"arm64","OS":"linux"}`))
	return fault{
		service: service, cause: "platform-mismatch", names: []string{"linux/arm64", "linux/x86_64"}, unproven: true,
		healByAPI: func() {
			version := r.docker(1, "service", "inspect", "-f", "{{.Version.Index}}", service)
			r.post("/services/"+service+"/update?version="+version, spec(""))
		},
	}
}

// post sends a request to node 1's engine.
func (r *rig) post(path, body string) {
	r.t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.Socket(1))
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Post("http://docker/v1.41"+path, "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode >= 300 {
		r.t.Fatalf("POST %s: %s: %s", path, response.Status, text)
	}
}

// allSaid tells for which of the services there is no line of a kind yet.
func (r *rig) allSaid(kind string, planted []fault) error {
	events := r.events()
	var missing []string
	for _, f := range planted {
		if len(of(events, kind, f.service)) == 0 {
			missing = append(missing, f.service)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("no %s line for %s\n%s", kind, strings.Join(missing, ", "), r.docker(1, "service", "ls"))
	}
	return nil
}

// isNamed holds the log line, the command line and each check against what was made.
func (r *rig) isNamed(f fault, events []event) {
	lines := of(events, "stuck", f.service)
	if len(lines) != 1 {
		r.t.Fatalf("%d stuck lines, want one", len(lines))
	}
	line := lines[0]
	r.isRight(f, *line.Diagnosis)
	if late := line.Time.Sub(line.Diagnosis.Since.Add(threshold)); late < 0 || late > promptly {
		r.t.Errorf("the line came %s after the threshold", late)
	}
	if line.Diagnosis.Component == analyzer.Scheduler && (line.Verdict != "reject" || line.Filter == "") {
		r.t.Errorf("the line has verdict %q and filter %q", line.Verdict, line.Filter)
	}
	result, status := r.why(f.service)
	if status != 2 || len(result.Diagnoses) != 1 {
		r.t.Fatalf("why exits with %d and finds %s", status, causes(result))
	}
	d := result.Diagnoses[0]
	r.isRight(f, d)
	if d.Task != "" {
		if says := r.sh("docker inspect --type task -f '{{.Status.Err}}' " + d.Task); d.DockerSays != says {
			r.t.Errorf("docker says %q, we quote %q", says, d.DockerSays)
		}
	}
	if len(d.Check) == 0 {
		r.t.Error("no check")
	}
	for _, check := range d.Check {
		if out := r.sh(check.Command); strings.TrimSpace(out) != strings.TrimSpace(check.Shows) {
			r.t.Errorf("the check shows something else\n$ %s\n%s\nwant %s", check.Command, out, check.Shows)
		}
	}
}

func (r *rig) isRight(f fault, d analyzer.Diagnosis) {
	if d.Cause != f.cause || d.Shape != f.shape || d.Severity != analyzer.Critical {
		r.t.Errorf("want %s %s, got %s %s, %s: %s", f.cause, f.shape, d.Cause, d.Shape, d.Severity, d.Summary)
	}
	text, err := json.Marshal(d)
	if err != nil {
		r.t.Fatal(err)
	}
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
	for _, name := range f.names {
		if !strings.Contains(plain, name) {
			r.t.Errorf("%q is not named: %s", name, d.Summary)
		}
	}
}

func causes(result analyzer.Result) string {
	var all []string
	for _, d := range result.Diagnoses {
		all = append(all, d.Service+": "+d.Cause+" "+d.Shape)
	}
	return strings.Join(all, ", ")
}

// bothSourcesAgree compares what is said from the Engine API and from the control socket; only what the former hides may differ.
func (r *rig) bothSourcesAgree() {
	engine, _ := r.why("")
	watch, _ := r.whyByWatch("")
	for _, result := range []*analyzer.Result{&engine, &watch} {
		for i := range result.Diagnoses {
			d := &result.Diagnoses[i]
			d.Confidence, d.Blind = "", nil
			for j := range d.Remedies { // of equal nodes the scheduler takes any; what is uncertain is to be checked first
				d.Remedies[j].On, d.Remedies[j].Note = nil, ""
			}
		}
		slices.SortFunc(result.Diagnoses, func(a, b analyzer.Diagnosis) int { return cmp.Compare(a.ID, b.ID) })
	}
	if diff := gocmp.Diff(watch.Diagnoses, engine.Diagnoses, cmpopts.IgnoreUnexported(analyzer.Diagnosis{})); diff != "" {
		r.t.Errorf("control socket and Engine API differ:\n%s", diff)
	}
}

// metricsCount reads the metrics of every node: the speaker alone counts.
func (r *rig) metricsCount(planted []fault) {
	speakers := 0
	for node := 1; node <= nodes; node++ {
		status, text, err := r.page(node, "/metrics")
		if err != nil || status != http.StatusOK {
			r.t.Fatalf("node %d: %d %v", node, status, err)
		}
		if !strings.Contains(text, "\nswarmdiag_speaker 1\n") {
			if strings.Contains(text, "swarmdiag_stuck_tasks{") {
				r.t.Errorf("node %d does not speak and shows stuck tasks", node)
			}
			continue
		}
		speakers++
		for _, f := range planted {
			if series := fmt.Sprintf(`swarmdiag_stuck_tasks{cause="%s",service="%s"}`, f.cause, f.service); !strings.Contains(text, series) {
				r.t.Errorf("no series %s", series)
			}
		}
	}
	if speakers != 1 {
		r.t.Errorf("%d agents speak, want one", speakers)
	}
}

// unavailableNode drains, pauses and freezes a node that a service is bound to.
func (r *rig) unavailableNode() {
	const service = "bound"
	for _, state := range []string{"drain", "pause"} {
		r.sh("docker node update --availability " + state + " node-4")
		before := len(of(r.events(), "stuck", service))
		r.sh("docker service create -d --no-resolve-image --name " + service + " --constraint node.hostname==node-4 demo:1")
		r.eventually(time.Minute, func() error {
			if n := len(of(r.events(), "stuck", service)); n != before+1 {
				return fmt.Errorf("%s: %d stuck lines for %s", state, n-before, service)
			}
			return nil
		})
		r.isRight(fault{cause: "no-available-node", names: []string{"node-4", state}}, *of(r.events(), "stuck", service)[before].Diagnosis)
		d := r.isFound(fault{service: service, cause: "no-available-node"})
		if proven := provenOf(d); len(proven) != 1 {
			r.t.Fatalf("want one proven remedy, not %+v", d.Remedies)
		}
		r.comesTrue(d, d.Remedies[0])
		r.eventually(time.Minute, func() error {
			if n := len(of(r.events(), "resolved", service)); n != before+1 {
				return fmt.Errorf("%s: %s is not resolved", state, service)
			}
			return nil
		})
		r.sh("docker service rm " + service)
	}
}

// nodeGoesDown freezes a node where a task holds a port: until it is back, the managers count that as held there by a task that was told
// to stop, and the one that they make in its place wants the same port there.
func (r *rig) nodeGoesDown() {
	f := fault{service: "held-port", cause: "no-available-node", names: []string{"node-4", "down"}}
	r.sh("docker service create -d --no-resolve-image --name held-port --constraint node.hostname==node-4 --publish mode=host,published=7100,target=8080 demo:1")
	r.eventually(time.Minute, func() error { return r.running(f.service) })
	if err := r.Pause(r.t.Context(), 4); err != nil {
		r.t.Fatal(err)
	}
	r.eventually(2*time.Minute, func() error { return r.allSaid("stuck", []fault{f}) })
	r.isNamed(f, r.events())
	d := r.isFound(f)
	if d.HealsItself != "when node-4 returns" || len(d.Remedies) != 1 || d.Remedies[0].At != "node-4" || strings.Contains(d.Remedies[0].Note, "alone") {
		r.t.Errorf("it heals %q, and what is to be done: %+v", d.HealsItself, d.Remedies)
	}
	if err := r.Resume(r.t.Context(), 4); err != nil {
		r.t.Fatal(err)
	}
	r.eventually(time.Minute, func() error { return r.allSaid("resolved", []fault{f}) })
	r.sh("docker service rm " + f.service)
}

// drainedLeader takes the agent off the leader: a global service has no task on a drained node.
func (r *rig) drainedLeader() {
	leader := r.docker(1, "node", "ls", "--filter", "role=manager", "--format", "{{.Hostname}} {{.ManagerStatus}}")
	name := ""
	for _, line := range strings.Split(leader, "\n") {
		if host, status, _ := strings.Cut(line, " "); status == "Leader" {
			name = host
		}
	}
	r.sh("docker node update --availability drain " + name)
	defer r.sh("docker node update --availability active " + name)
	r.eventually(time.Minute, func() error {
		for node := 1; node <= nodes; node++ {
			if _, text, err := r.page(node, "/metrics"); err == nil && strings.Contains(text, "\nswarmdiag_speaker 1\n") && "node-"+fmt.Sprint(node) != name {
				return nil
			}
		}
		return fmt.Errorf("nobody speaks with %s drained", name)
	})
	r.sh("docker service create -d --no-resolve-image --name orphan --constraint node.labels.env==nowhere demo:1")
	r.eventually(time.Minute, func() error {
		if len(of(r.events(), "stuck", "orphan")) != 1 {
			return fmt.Errorf("nobody says that orphan is stuck")
		}
		return nil
	})
}
