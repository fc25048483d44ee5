//go:build live

package e2e

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/deploy/testbed"
)

// drainManager takes the agent off the only manager: a drained node has no task of a global service.
func (r *rig) drainManager() {
	r.t.Helper()
	r.sh("docker node update --availability drain node-1")
	r.eventually(time.Minute, func() error {
		if left := r.docker(manager, "ps", "-q"); left != "" {
			return fmt.Errorf("the drained manager still runs %s", left)
		}
		return nil
	})
}

// nobodySpeaks waits until both workers' agents say that nobody speaks and name the manager. They wait a minute with that, by
// a look every quarter of it.
func (r *rig) nobodySpeaks(drained time.Time) {
	const sentence = "no agent speaks for the cluster"
	type entry struct {
		Time                 time.Time
		Level, Msg, Managers string
	}
	var found []entry
	r.eventually(2*time.Minute, func() error {
		found = nil
		for _, line := range strings.Split(r.sh("timeout 8 docker service logs --raw swarmdiag 2>&1 || true"), "\n") {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err == nil && strings.Contains(e.Msg, sentence) {
				found = append(found, e)
			}
		}
		if len(found) < 2 {
			return fmt.Errorf("%d lines say that %s", len(found), sentence)
		}
		return nil
	})
	for _, e := range found {
		if after := e.Time.Sub(drained); after < 45*time.Second || after > 90*time.Second {
			r.t.Errorf("that nobody speaks was said %s after the manager was drained", after)
		}
		if e.Level != "warning" || e.Managers != r.Address(manager) || !strings.Contains(e.Msg, "plain container") {
			r.t.Errorf("the line does not say how to mend it: %+v", e)
		}
	}
	if a := r.fromBridge(worker, "/v1/diagnoses", token); a.status != http.StatusServiceUnavailable {
		r.t.Errorf("where nobody speaks a worker answers %d %s", a.status, a.text)
	}
	if a := r.fromBridge(worker, "/readyz", ""); a.status != http.StatusOK {
		r.t.Errorf("a worker's agent is not ready: %s", a.text)
	}
}

// at makes a command line one for another node's engine.
func (r *rig) at(node int, line string) string {
	return "export DOCKER_HOST=unix://" + r.Socket(node) + "\n" + line
}

// agentElsewhere runs the documented line for a machine that is in no swarm, which reads the manager's engine by TLS.
func (r *rig) agentElsewhere() *engineProxy {
	certificates := makeCertificates(r.t, testbed.Gateway)
	listener, err := r.Listen(r.t.Context(), "tcp", testbed.Gateway+":2376")
	if err != nil {
		r.t.Fatal(err)
	}
	var proxy engineProxy
	proxy.serve(r, tls.NewListener(listener, certificates.server), manager)
	line := documented(r.t, "docker run", "DOCKER_TLS_VERIFY")
	r.sh(r.at(outsider, strings.NewReplacer("/etc/swarmdiag,", certificates.folder+",", "manager.example.com", testbed.Gateway).Replace(line)))
	return &proxy
}

// drainedManager goes both documented ways where all managers are drained.
func (r *rig) drainedManager() {
	proxy := r.agentElsewhere()
	logs := func(node int) string { return r.sh(r.at(node, "docker logs swarmdiag 2>&1")) }
	r.eventually(time.Minute, func() error {
		if stuck := stuckIn(logs(outsider)); !slices.Equal(stuck, []string{"nowhere", "too-large"}) {
			return fmt.Errorf("the agent elsewhere calls stuck %q:\n%s", stuck, logs(outsider))
		}
		return r.speaks(outsider)
	})
	proxy.onlyRead(r.t)

	r.sh(documented(r.t, "docker run", "source=/run,"))
	r.eventually(time.Minute, func() error { return r.speaks(manager) })
	r.eventually(time.Minute, func() error {
		if r.speaks(outsider) == nil {
			return errors.New("the agent elsewhere speaks beside the one on the manager")
		}
		return nil
	})
	r.sh("docker service create -d --no-resolve-image --name later --constraint node.labels.zone==moon demo:1")
	r.eventually(time.Minute, func() error {
		if stuck := stuckIn(logs(manager)); !slices.Contains(stuck, "later") {
			return fmt.Errorf("the agent on the manager calls stuck %q", stuck)
		}
		return nil
	})
	r.sh("docker service rm later")
	if stuck := stuckIn(logs(outsider)); slices.Contains(stuck, "later") {
		r.t.Errorf("the agent elsewhere speaks too: %q", stuck)
	}
	for _, node := range []int{worker, worker2} {
		if text := r.fromBridge(node, "/metrics", "").text; !strings.Contains(text, "\nswarmdiag_speaker 0\n") || strings.Contains(text, "swarmdiag_stuck_tasks{") {
			r.t.Errorf("the agent on node %d is not silent:\n%s", node, text)
		}
		if a := r.fromBridge(node, "/v1/diagnoses", token); a.status != http.StatusTemporaryRedirect || a.location != r.speakingPage(manager) {
			r.t.Errorf("node %d: %d %s %s", node, a.status, a.location, a.text)
		}
	}
	r.willShow("on the manager", func() answer { return r.fromLoopback(manager, "/v1/diagnoses") })
	r.docker(outsider, "stop", "swarmdiag")
	if status := r.docker(outsider, "inspect", "-f", "{{.State.ExitCode}}", "swarmdiag"); status != "0" {
		r.t.Errorf("stopped, the agent exits with %s", status)
	}
}

// container is what the two documented ways to run the agent as a plain container have in common. The mounts differ in form.
func (r *rig) container() string {
	return r.docker(manager, "inspect", "-f", `{{.Name}}
image {{.Config.Image}} {{json .Config.Entrypoint}} {{json .Config.Cmd}} {{json .Config.Healthcheck}}
environment {{json .Config.Env}}
user {{json .Config.User}}
network {{.HostConfig.NetworkMode}} {{json .HostConfig.PortBindings}}
restart {{json .HostConfig.RestartPolicy}}
privileged {{.HostConfig.Privileged}} {{json .HostConfig.CapAdd}} {{json .HostConfig.CapDrop}} {{json .HostConfig.SecurityOpt}}
root file system {{.HostConfig.ReadonlyRootfs}}
limits {{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.MemorySwap}}
log {{json .HostConfig.LogConfig}}
{{range .Mounts}}mount {{.Destination}} writable {{.RW}}
{{end}}`, "swarmdiag")
}

// compose replaces the container of the documented line by that of the compose file.
func (r *rig) compose() {
	want := r.container()
	r.docker(manager, "rm", "--force", "swarmdiag")
	r.dockerCompose("up", "-d")
	if diff := gocmp.Diff(strings.Split(want, "\n"), strings.Split(r.container(), "\n")); diff != "" {
		r.t.Errorf("the compose file makes another container (-docker run +compose):\n%s", diff)
	}
	r.eventually(time.Minute, func() error { return r.speaks(manager) })
	r.willShow("by compose", func() answer { return r.fromLoopback(manager, "/v1/diagnoses") })
	if reason := r.fromBridge(manager, "/readyz", "").text; !strings.Contains(reason, "by watch") {
		r.t.Errorf("the agent does not have the control socket: %s", reason)
	}
	r.dockerCompose("down", "--volumes")
}

// dockerCompose runs docker-compose on the documented file. It is a Python program.
func (r *rig) dockerCompose(args ...string) {
	r.t.Helper()
	bin, libraries := r.fetched("compose")
	python := "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		python = filepath.Join(bin, "python3")
	}
	cmd := exec.CommandContext(r.t.Context(), python, append([]string{bin + "/docker-compose", "-f", "deploy/compose.manager.yml"}, args...)...)
	cmd.Dir = root(r.t)
	cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+r.Socket(manager), "DOCKER_CONFIG="+r.config,
		"PYTHONPATH="+filepath.Join(bin, "..", "lib", "python3", "dist-packages"), libraries)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("docker-compose %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
