//go:build live

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/deploy/testbed"
)

// The nodes: three managers and a worker.
const (
	nodes, managers = 4, 3
	agentPort       = "9797"
)

// rig is a swarm with the documented agent on every node.
type rig struct {
	*testbed.Swarm
	t      *testing.T
	config string // a docker configuration with the CLI plugin
	binary string
	ran    map[string]bool // the commands of remedies that ran
}

// with is the same rig for a part of the test.
func (r *rig) with(t *testing.T) *rig {
	part := *r
	part.t = t
	return &part
}

func newRig(t *testing.T, name string) *rig {
	return bringUp(t, testbed.Options{
		Name: name, Nodes: nodes, Managers: managers,
		Labels: []string{"1:rack=r1", "2:rack=r2"}, Generic: []string{"1:gpu=4", "2:gpu=4"},
	})
}

// bringUp gives a swarm of the Docker version that the test wants or the environment names, with the program and its image on every node.
func bringUp(t *testing.T, o testbed.Options) *rig {
	o.Docker = cmp.Or(o.Docker, os.Getenv("LIVE_DOCKER"), testbed.Docker27)
	r := &rig{Swarm: testbed.ForTest(t, o), t: t, config: t.TempDir(), ran: map[string]bool{}}
	cli, err := testbed.Fetch(t.Context(), "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+":"+cli) // for machines that have no docker command
	r.installPlugin()
	r.distributeImage(o.Nodes)
	return r
}

// installPlugin builds the program once and puts it where docker looks for its plugins.
func (r *rig) installPlugin() {
	r.binary = filepath.Join(r.config, "cli-plugins", "docker-swarmdiag")
	build := exec.CommandContext(r.t.Context(), "go", "build", "-trimpath", "-o", r.binary, "github.com/swarmdiag/swarmdiag/cmd/swarmdiag")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		r.t.Fatalf("build swarmdiag: %v\n%s", err, out)
	}
	if err := os.Symlink(r.binary, filepath.Join(r.config, "swarmdiag")); err != nil {
		r.t.Fatal(err)
	}
}

// distributeImage builds the image on node 1 from the project's Dockerfile and brings it to all nodes without a registry.
func (r *rig) distributeImage(nodes int) {
	dist := r.t.TempDir()
	binary, err := os.ReadFile(r.binary)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dist, "linux-amd64"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dist, "linux-amd64", "swarmdiag"), binary, 0o755); err != nil {
		r.t.Fatal(err)
	}
	r.docker(1, "build", "-q", "-t", "swarmdiag:latest", "--build-arg", "TARGETARCH=amd64", "-f", filepath.Join(root(r.t), "deploy", "Dockerfile"), dist)
	archive := filepath.Join(dist, "image.tar")
	r.docker(1, "save", "-o", archive, "swarmdiag:latest")
	for node := 2; node <= nodes; node++ {
		r.docker(node, "load", "-q", "-i", archive)
	}
}

// root is the folder of the project.
func root(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// documented is the one command line of the README that begins as given and contains the rest, word for word.
func documented(t *testing.T, beginning string, containing ...string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, line := range regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(beginning)+`(?:.*\\\n)*.*$`).FindAllString(string(readme), -1) {
		if !slices.ContainsFunc(containing, func(part string) bool { return !strings.Contains(line, part) }) {
			found = append(found, line)
		}
	}
	if len(found) != 1 {
		t.Fatalf("the README has %d lines that begin with %q and contain %q, want one: %q", len(found), beginning, containing, found)
	}
	return found[0]
}

// deploy creates the service by the documented line and waits until every node has an agent.
func (r *rig) deploy() {
	r.t.Helper()
	r.sh(documented(r.t, "docker service create", "--name swarmdiag"))
	r.eventually(time.Minute, func() error { return r.agentsRun("swarmdiag") })
}

// agentsRun tells whether every node of the swarm runs a task of the global service.
func (r *rig) agentsRun(service string) error {
	nodes := len(strings.Fields(r.docker(1, "node", "ls", "-q")))
	running := r.docker(1, "service", "ps", "--filter", "desired-state=running", "--format", "{{.CurrentState}}", service)
	if n := strings.Count(running, "Running"); n != nodes {
		return fmt.Errorf("%d of %d agents run:\n%s", n, nodes, running)
	}
	return nil
}

// sh runs a command line as an operator of node 1 would.
func (r *rig) sh(line string) string {
	r.t.Helper()
	out, err := r.try(line)
	if err != nil {
		r.t.Fatalf("%v\n%s\n%s", err, line, out)
	}
	return out
}

func (r *rig) try(line string) (string, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Env = append(os.Environ(), "DOCKER_HOST=unix://"+r.Socket(1), "DOCKER_CONFIG="+r.config, "DOCKER_BUILDKIT=0", "PATH="+r.config+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

// fetched is the folder of a tool's binaries and, as a setting of the environment, where the libraries that came with them are.
func (r *rig) fetched(tool string) (folder, libraries string) {
	r.t.Helper()
	folder, err := testbed.Fetch(r.t.Context(), tool)
	if err != nil {
		r.t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(folder, "..", "lib", "*-linux-gnu*"))
	if err != nil {
		r.t.Fatal(err)
	}
	return folder, "LD_LIBRARY_PATH=" + strings.Join(found, ":")
}

// docker runs docker against a node's engine.
func (r *rig) docker(node int, args ...string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", append([]string{"-H", "unix://" + r.Socket(node)}, args...)...)
	cmd.Env = append(os.Environ(), "DOCKER_CONFIG="+r.config, "DOCKER_BUILDKIT=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n")
}

// eventually waits until check has nothing to say.
func (r *rig) eventually(limit time.Duration, check func() error) {
	r.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("still after %s: %v", limit, err)
		}
		select {
		case <-r.t.Context().Done():
			r.t.Fatal(r.t.Context().Err())
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// event is a line of the decision log.
type event struct {
	Time      time.Time           `json:"time"`
	Level     string              `json:"level"`
	Msg       string              `json:"msg"`
	Component string              `json:"component"`
	Filter    string              `json:"filter"`
	Verdict   string              `json:"verdict"`
	Event     string              `json:"event"`
	Service   string              `json:"service"`
	Lasted    *float64            `json:"lasted"`
	By        string              `json:"by"`
	Open      map[string]int      `json:"open"`
	Diagnosis *analyzer.Diagnosis `json:"diagnosis"`
}

// events reads the decision log of all agents as an operator does. Docker waits for ever for the lines of a frozen node.
func (r *rig) events() []event {
	r.t.Helper()
	var events []event
	for _, line := range strings.Split(r.sh("timeout 8 docker service logs --raw swarmdiag 2>/dev/null || true"), "\n") {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err == nil && e.Event != "" {
			events = append(events, e)
		}
	}
	return events
}

// of keeps the events of one kind and service.
func of(events []event, kind, service string) []event {
	var kept []event
	for _, e := range events {
		if e.Event == kind && e.Service == service {
			kept = append(kept, e)
		}
	}
	return kept
}

// why asks the CLI plugin and returns what it found with its exit status.
func (r *rig) why(args string) (analyzer.Result, int) {
	r.t.Helper()
	return r.result("docker swarmdiag why --format json " + args)
}

// whyByWatch asks the program beside the plugin, which reads the control socket of node 1.
func (r *rig) whyByWatch(args string) (analyzer.Result, int) {
	r.t.Helper()
	socket, err := r.ControlSocket(1)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.result("swarmdiag why --format json --control-socket " + socket + " " + args)
}

func (r *rig) result(line string) (analyzer.Result, int) {
	r.t.Helper()
	out, err := r.try(line + " 2>/dev/null")
	status := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	var result analyzer.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		r.t.Fatalf("%s: exit status %d: %v\n%s", line, status, err, out)
	}
	return result, status
}

// page reads a page of a node's agent, from the network between the nodes.
func (r *rig) page(node int, path string) (int, string, error) {
	client := &http.Client{Transport: &http.Transport{DialContext: r.Dial, DisableKeepAlives: true}, Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get("http://" + r.Address(node) + ":" + agentPort + path)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
