//go:build live

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// stack deploys the stack file in place of the service that was made by hand, and compares what Swarm made of the two.
func (r *rig) stack() {
	// The service was changed once, when it was given the token.
	want := r.spec("docker service inspect -f '{{json .PreviousSpec}}' swarmdiag")
	r.sh("docker service rm swarmdiag")
	deploy := "cd " + root(r.t) + " && " + documented(r.t, "SWARMDIAG_IMAGE=swarmdiag:latest docker stack deploy")
	r.sh(deploy)
	got := r.spec("docker service inspect -f '{{json .Spec}}' swarmdiag_agent")
	if diff := gocmp.Diff(want, got); diff != "" {
		r.t.Errorf("the stack makes another service (-create +stack):\n%s", diff)
	}
	r.sh("docker node update --availability active node-1")
	r.sh(strings.Replace(deploy, "-c deploy/stack.yml", "-c deploy/stack.yml -c deploy/stack.token.yml", 1))
	r.eventually(2*time.Minute, func() error { return r.agentsRun("swarmdiag_agent") })
	r.eventually(time.Minute, func() error { return r.speaks(manager) })
	if a := r.fromBridge(manager, "/v1/diagnoses", ""); a.status != http.StatusUnauthorized {
		r.t.Errorf("without the token: %d", a.status)
	}
	r.same("by the stack", r.bothStuck(), comparable(r.diagnoses(r.fromBridge(manager, "/v1/diagnoses", token))))
	r.sh("docker stack rm swarmdiag")
}

// spec reads a service's spec without its names.
func (r *rig) spec(line string) map[string]any {
	r.t.Helper()
	var spec map[string]any
	if err := json.Unmarshal([]byte(r.sh(line)), &spec); err != nil {
		r.t.Fatal(err)
	}
	delete(spec, "Name")
	return spec
}
