//go:build live

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// refusals are what keeps a look from its answer: exit status 1, and a sentence that says what to do.
func (r *rig) refusals() {
	managers := r.Address(manager) + ":2377"
	r.refused("docker -H unix://"+r.Socket(worker)+" swarmdiag why", "this node is a worker", managers)
	r.sh("docker context create worker --docker host=unix://" + r.Socket(worker))
	r.refused(fmt.Sprintf(withContext, "worker"), "this node is a worker", managers)
	r.refused("docker -H unix://"+r.Socket(outsider)+" swarmdiag nodes", "not part of a swarm")
	r.refused("docker -H unix:///nowhere.sock swarmdiag why", "unix:///nowhere.sock", "no Docker engine answers there")
	r.refused("docker swarmdiag why wel", `"wel"`, "well")

	old := engineProxy{Says: "1.40"}
	r.refused("docker -H "+r.socketProxy(&old)+" swarmdiag why", "too old", "1.40", "1.41")
	r.refusedEndpoints()
	r.wrongUser()
}

// refusedEndpoints looks through proxies that do not let everything pass: what can be done without is named, and the rest decides.
func (r *rig) refusedEndpoints() {
	want := r.bothStuck()
	for _, endpoint := range []string{"/networks", "/info"} {
		proxy := engineProxy{Refuses: endpoint}
		result := r.finds(want, "docker -H "+r.socketProxy(&proxy)+" swarmdiag why --format json")
		if !slices.ContainsFunc(result.Blind, func(blind string) bool {
			return strings.Contains(blind, "GET "+endpoint) && strings.Contains(blind, "the proxy does not allow this")
		}) {
			r.t.Errorf("%s is refused, which is not said under blind: %q", endpoint, result.Blind)
		}
		proxy.onlyRead(r.t)
	}
	for _, endpoint := range []string{"/tasks", "/services", "/nodes", "/_ping"} {
		proxy := engineProxy{Refuses: endpoint}
		r.refused("docker -H "+r.socketProxy(&proxy)+" swarmdiag why", "GET "+endpoint, "refused", "socket proxy")
	}
}

// wrongUser looks on the manager as a user who may open neither of its sockets.
func (r *rig) wrongUser() {
	for socket, look := range map[string]string{
		"/run/docker/swarm/control.sock": "why --control-socket /run/docker/swarm/control.sock",
		"/run/docker.sock":               "--host unix:///run/docker.sock why",
	} {
		line := r.openBinary() + " " + look
		out, err := r.Exec(r.t.Context(), manager, "bash", "-c", "DOCKER_CONFIG=/none setpriv --reuid 65534 --regid 65534 --clear-groups "+line+" 2>&1")
		r.isRefusal(line, out, err, socket, "permission denied", "root")
	}
}

// openBinary is the program in a folder that every user may enter.
func (r *rig) openBinary() string {
	r.t.Helper()
	folder, err := os.MkdirTemp("", "swarmdiag-e2e-")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = os.RemoveAll(folder) })
	r.sh("chmod 755 " + folder + " && cp " + r.binary + " " + folder + "/swarmdiag")
	return folder + "/swarmdiag"
}
