//go:build live

package e2e

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/deploy/testbed"
)

// withContext looks by a docker context alone: DOCKER_HOST would come before it.
const withContext = "env -u DOCKER_HOST docker --context %s swarmdiag why --format json"

// plugin holds that docker lists the plugin and completes its command lines.
func (r *rig) plugin() {
	var metadata struct{ SchemaVersion, Vendor, Version, ShortDescription string }
	if err := json.Unmarshal([]byte(r.sh(r.binary+" docker-cli-plugin-metadata")), &metadata); err != nil {
		r.t.Errorf("plugin metadata: %v", err)
	}
	if metadata.SchemaVersion != "0.1.0" || metadata.Vendor == "" || metadata.Version == "" || metadata.ShortDescription == "" {
		r.t.Errorf("plugin metadata lacks something: %+v", metadata)
	}
	if listed := r.sh("docker info"); !strings.Contains(listed, "swarmdiag: "+metadata.ShortDescription) {
		r.t.Errorf("docker info does not list the plugin:\n%s", listed)
	}
	if listed := r.sh("docker --help"); !strings.Contains(listed, "swarmdiag*") {
		r.t.Errorf("docker --help does not list the plugin:\n%s", listed)
	}
	for line, wanted := range map[string][]string{
		// The second is what docker's own completion asks the plugin. Docker 20.10 does not ask.
		"swarmdiag __complete why --format ''":                   {"table", "wide", "json", "yaml"},
		r.binary + " __complete swarmdiag why --format ''":       {"table", "wide", "json", "yaml"},
		r.binary + " __complete swarmdiag ''":                    {"why\t", "nodes\t", "snapshot\t"},
		"swarmdiag completion bash | bash -n && echo valid bash": {"valid bash"},
	} {
		said := r.sh("(" + line + ") 2>/dev/null")
		for _, one := range wanted {
			if !slices.ContainsFunc(strings.Split(said, "\n"), func(line string) bool { return strings.HasPrefix(line, one) }) {
				r.t.Errorf("%s does not offer %q: %s", line, one, said)
			}
		}
	}
}

// contexts looks at the manager's socket and through TLS with certificates of clients, from this machine and from a worker.
func (r *rig) contexts() {
	want := r.bothStuck()
	r.sh("docker context create local --docker host=unix://" + r.Socket(manager))
	r.finds(want, fmt.Sprintf(withContext, "local"))

	certificates := makeCertificates(r.t, "127.0.0.1", testbed.Gateway)
	loopback, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	between, err := r.Listen(r.t.Context(), "tcp", testbed.Gateway+":0")
	if err != nil {
		r.t.Fatal(err)
	}
	var proxy engineProxy
	proxy.serve(r, tls.NewListener(loopback, certificates.server), manager)
	proxy.serve(r, tls.NewListener(between, certificates.server), manager)
	host, keys := "tcp://"+loopback.Addr().String(), certificates.folder
	r.sh(fmt.Sprintf("docker context create tls --docker host=%s,ca=%s/ca.pem,cert=%[2]s/cert.pem,key=%[2]s/key.pem", host, keys))
	r.finds(want, fmt.Sprintf(withContext, "tls"))
	r.finds(want, "env -u DOCKER_HOST swarmdiag --context tls why --format json")
	r.finds(want, fmt.Sprintf("DOCKER_HOST=%s DOCKER_TLS_VERIFY=1 DOCKER_CERT_PATH=%s docker swarmdiag why --format json", host, keys))

	r.sh(fmt.Sprintf("docker context create unknown --docker host=%s,ca=%s/ca.pem", host, keys))
	r.refused(fmt.Sprintf(withContext, "unknown"), host, "certificate required")

	r.sh(fmt.Sprintf("docker context create between --docker host=tcp://%s,ca=%s/ca.pem,cert=%[2]s/cert.pem,key=%[2]s/key.pem", between.Addr(), keys))
	r.pastDeadProxy(want, "between")
	proxy.onlyRead(r.t)
}

// pastDeadProxy looks from a worker with an HTTP proxy that is not there, which docker itself stumbles over.
func (r *rig) pastDeadProxy(want []analyzer.Diagnosis, context string) {
	dead := "http://" + testbed.Gateway + ":9"
	look := func(args ...string) (string, error) {
		command := append([]string{"env", "DOCKER_CONFIG=" + r.config, "HTTP_PROXY=" + dead, "HTTPS_PROXY=" + dead, "http_proxy=" + dead, "https_proxy=" + dead,
			"docker", "--context", context}, args...)
		return r.Exec(r.t.Context(), worker, command...)
	}
	if said, err := look("node", "ls"); err == nil {
		r.t.Fatalf("docker itself reaches the manager, so that the proxy is not in the way:\n%s", said)
	}
	text, err := look("swarmdiag", "why", "--format", "json")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		r.t.Fatalf("with a dead HTTP proxy: %v", err)
	}
	var result analyzer.Result
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		r.t.Fatal(err)
	}
	r.same("with a dead HTTP proxy", want, comparable(result))
}
