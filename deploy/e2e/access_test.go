//go:build live

package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/deploy/testbed"
)

// The nodes of the swarm of this test: the only manager, two workers, and an engine that is in no swarm.
const (
	manager, worker, worker2, outsider = 1, 2, 3, 4
)

// plantStuck makes one service that is well and two that are stuck.
const plantStuck = `
docker service create -d --no-resolve-image --name well --constraint node.role==worker --replicas 2 demo:1
docker service create -d --no-resolve-image --name too-large --reserve-memory 900g demo:1
docker service create -d --no-resolve-image --name nowhere --constraint node.labels.zone==moon demo:1`

func TestEveryWayToLookAndToInstall(t *testing.T) {
	r := bringUp(t, testbed.Options{Name: "e2e-access", Nodes: outsider, Managers: 1})
	r.docker(outsider, "swarm", "leave")
	r.sh("docker node rm --force node-4" + plantStuck)
	r.eventually(time.Minute, func() error { return r.running("well") })
	r.eventually(time.Minute, func() error { return r.nowFinds("too-large", "nowhere") })

	part := func(name string, run func(*rig)) bool {
		return t.Run(name, func(t *testing.T) { run(r.with(t)) })
	}
	if !part("the documented service with a token", (*rig).deployWithToken) {
		t.FailNow() // what follows looks at these agents
	}
	part("the token opens the page", (*rig).tokenOpens)
	part("an agent that polls says the same, in time", (*rig).polling)
	part("nothing is written while agents watch and poll", (*rig).nothingIsWritten)

	drained := time.Now()
	r.drainManager()
	part("the docker command knows its plugin", (*rig).plugin)
	part("through contexts of a socket and of TLS", (*rig).contexts)
	part("through a context of ssh", (*rig).ssh)
	part("what keeps it from looking is said", (*rig).refusals)
	part("a dump made by hand and a snapshot say the same", (*rig).dumps)
	part("agents on workers say that nobody speaks", func(r *rig) { r.nobodySpeaks(drained) })
	part("an agent elsewhere speaks until one on the manager does", (*rig).drainedManager)
	part("the compose file makes the same container", (*rig).compose)
	part("the stack makes the same service", (*rig).stack)
}

// nowFinds tells whether a look finds these services stuck, and no others.
func (r *rig) nowFinds(services ...string) error {
	result, _ := r.why("")
	var found []string
	for _, d := range result.Diagnoses {
		found = append(found, d.Service)
	}
	slices.Sort(found)
	slices.Sort(services)
	if !slices.Equal(found, services) {
		return fmt.Errorf("stuck are %q, want %q", found, services)
	}
	return nil
}

// bothStuck are the diagnoses that every source should give, as the plugin gives them at the manager's own socket.
func (r *rig) bothStuck() []analyzer.Diagnosis {
	r.t.Helper()
	result, status := r.why("")
	if status != 2 || len(result.Diagnoses) != 2 {
		r.t.Fatalf("why exits with %d and finds %s", status, causes(result))
	}
	return comparable(result)
}

// comparable are the diagnoses without what only tells how well they could be seen.
func comparable(result analyzer.Result) []analyzer.Diagnosis {
	all := slices.Clone(result.Diagnoses)
	for i := range all {
		all[i].Confidence, all[i].Blind = "", nil
	}
	slices.SortFunc(all, func(a, b analyzer.Diagnosis) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (r *rig) same(what string, want, got []analyzer.Diagnosis) {
	r.t.Helper()
	if diff := r.difference(want, got); diff != "" {
		r.t.Errorf("%s: other diagnoses (-want +got):\n%s", what, diff)
	}
}

// difference is how the JSON of two differs, line by line; empty where it does not.
func (r *rig) difference(want, got []analyzer.Diagnosis) string {
	r.t.Helper()
	a, errA := json.MarshalIndent(want, "", " ")
	b, errB := json.MarshalIndent(got, "", " ")
	if err := errors.Join(errA, errB); err != nil {
		r.t.Fatal(err)
	}
	return gocmp.Diff(strings.Split(string(a), "\n"), strings.Split(string(b), "\n"))
}

// finds runs a command line that looks, and holds what it finds against want. It may say nothing beside that.
func (r *rig) finds(want []analyzer.Diagnosis, line string) analyzer.Result {
	r.t.Helper()
	result, status := r.result(line)
	if status != 2 {
		r.t.Errorf("%s: exit status %d, want 2", line, status)
	}
	r.same(line, want, comparable(result))
	if said, _ := r.try("(" + line + ") 2>&1 >/dev/null"); said != "" {
		r.t.Errorf("%s: says to stderr %q", line, said)
	}
	return result
}

// refused runs a command line that must exit with 1 and one sentence that contains the parts.
func (r *rig) refused(line string, parts ...string) {
	r.t.Helper()
	out, err := r.try(line)
	r.isRefusal(line, out, err, parts...)
}

func (r *rig) isRefusal(line, out string, err error, parts ...string) {
	r.t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		r.t.Errorf("%s: %v, want exit status 1", line, err)
	}
	if strings.Count(out, "\n") > 0 {
		r.t.Errorf("%s: says more than a sentence:\n%s", line, out)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			r.t.Errorf("%s: %q is not in %q", line, part, out)
		}
	}
}
