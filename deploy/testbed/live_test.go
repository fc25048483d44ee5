//go:build live

package testbed

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestASwarmOfEachVersionRunsAServiceAndLeavesNothing(t *testing.T) {
	for _, version := range []string{Docker27, Docker20} {
		t.Run(version, func(t *testing.T) {
			t.Parallel() // two testbeds side by side
			swarm := ForTest(t, Options{
				Name: "live-" + strings.ReplaceAll(version, ".", "-"), Docker: version, Nodes: 3, Managers: 2,
				Labels: []string{"1:rack=r1", "2:rack=r2"}, Generic: []string{"1:gpu=1"},
			})
			checkNodes(t, swarm, version)
			checkService(t, swarm)
			checkControlSockets(t, swarm)
			checkStopAndStart(t, swarm)

			had := ownedBy(t, swarm.name)
			if len(had.processes) == 0 || len(had.namespaces) == 0 || len(had.cgroups) == 0 {
				t.Fatalf("looked for what a running testbed has and found %+v", had)
			}
			if err := swarm.Down(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkGone(t, swarm.folder, had)
		})
	}
}

func TestAnUpThatBreaksCleansUp(t *testing.T) {
	const said = "no such daemon today"
	folder, err := Fetch(t.Context(), Docker27)
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for _, kept := range []string{"debian", "demo.tar"} {
		if err := os.Symlink(filepath.Join(filepath.Dir(folder), kept), filepath.Join(cache, kept)); err != nil {
			t.Fatal(err)
		}
	}
	broken := filepath.Join(cache, filepath.Base(folder))
	if err := os.Mkdir(broken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "dockerd"), []byte("#!/bin/sh\necho "+said+"\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SWARMDIAG_CACHE", cache)
	root := t.TempDir()
	t.Setenv("SWARMDIAG_TESTBED", root)

	_, err = Up(t.Context(), Options{Name: "broken", Nodes: 2})
	if err == nil || !strings.Contains(err.Error(), said) {
		t.Errorf("got %v, want what dockerd said", err)
	}
	checkGone(t, filepath.Join(root, "broken"), possessions{})
}

func checkNodes(t *testing.T, swarm *Swarm, version string) {
	t.Helper()
	const format = "{{.Description.Hostname}} {{.Spec.Role}} {{.Status.State}} {{.Status.Addr}} {{.Description.Engine.Labels}} " +
		"{{range .Description.Resources.GenericResources}}{{.DiscreteResourceSpec.Kind}}={{.DiscreteResourceSpec.Value}}{{end}}"
	for node, want := range []string{
		"node-1 manager ready 198.18.0.1 map[rack:r1] gpu=1",
		"node-2 manager ready 198.18.0.2 map[rack:r2] ",
		"node-3 worker ready 198.18.0.3 map[] ",
	} {
		hostname, _, _ := strings.Cut(want, " ")
		if got := docker(t, swarm, 1, "node", "inspect", "-f", format, hostname); got != want {
			t.Errorf("node %d is %q, want %q", node+1, got, want)
		}
	}
	if got := docker(t, swarm, 3, "version", "-f", "{{.Server.Version}}"); !strings.HasPrefix(got, version) {
		t.Errorf("node 3 runs Docker %s, want %s", got, version)
	}
}

// checkService runs a task on every node and asks each from the network between the nodes.
func checkService(t *testing.T, swarm *Swarm) {
	t.Helper()
	docker(t, swarm, 1, "service", "create", "--quiet", "--no-resolve-image", "--mode", "global", "--name", "web",
		"--publish", "mode=host,published=8081,target=8080", Image, "-mb", "5")
	client := http.Client{Transport: &http.Transport{DialContext: swarm.Dial}, Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	for node := 1; node <= 3; node++ {
		response, err := client.Get("http://" + swarm.Address(node) + ":8081/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !strings.Contains(string(body), "holds 5242880 bytes") {
			t.Errorf("node %d answers %q, %v", node, body, err)
		}
	}
}

// checkControlSockets finds swarmkit's socket on the managers only, outside of the node and inside at Docker's own path.
func checkControlSockets(t *testing.T, swarm *Swarm) {
	t.Helper()
	for node := 1; node <= 3; node++ {
		path, err := swarm.ControlSocket(node)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("unix", path)
		if isManager := node <= 2; isManager != (err == nil) {
			t.Errorf("control socket of node %d: %v", node, err)
		}
		if err == nil {
			conn.Close()
		}
	}
	if _, err := swarm.Exec(t.Context(), 1, "test", "-S", "/var/run/docker/swarm/control.sock"); err != nil {
		t.Error(err)
	}
	if got, err := swarm.Exec(t.Context(), 2, "hostname"); err != nil || got != "node-2" {
		t.Errorf("hostname in node 2: %q, %v", got, err)
	}
}

// checkStopAndStart has the managers see a node go and come back, first frozen and then stopped.
func checkStopAndStart(t *testing.T, swarm *Swarm) {
	t.Helper()
	ctx := t.Context()
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return swarm.Pause(ctx, 3) }, "down"},
		{func() error { return swarm.Resume(ctx, 3) }, "ready"},
		{func() error { return swarm.StopNode(ctx, 3) }, "down"},
		{func() error { return swarm.StartNode(ctx, 3) }, "ready"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "node 3 is "+step.want, func() bool {
			return docker(t, swarm, 1, "node", "inspect", "-f", "{{.Status.State}}", "node-3") == step.want
		})
	}
	waitFor(t, "the task on node 3 runs again", func() bool {
		return docker(t, swarm, 3, "ps", "--quiet", "--filter", "name=web") != ""
	})
}

func docker(t *testing.T, swarm *Swarm, node int, args ...string) string {
	t.Helper()
	output, err := swarm.Docker(t.Context(), node, args...)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// possessions are what a testbed holds of the machine.
type possessions struct {
	processes  []string // pids
	namespaces []string // as /proc/PID/ns shows them
	cgroups    []string // folders
}

// ownedBy finds the processes that a testbed's nodes run, their tasks too, and what else is in its name.
func ownedBy(t *testing.T, name string) possessions {
	t.Helper()
	var had possessions
	seen := map[string]bool{}
	for _, process := range glob(t, "/proc/[0-9]*") {
		// A process that has ended meanwhile has no files, and is none of ours.
		environment, _ := os.ReadFile(filepath.Join(process, "environ"))
		cgroup, _ := os.ReadFile(filepath.Join(process, "cgroup"))
		if !strings.Contains(string(environment), "/"+name+"/") && !strings.Contains(string(cgroup), "swarmdiag-testbed-"+name+"/") {
			continue
		}
		if filepath.Base(process) == fmt.Sprint(os.Getpid()) {
			continue
		}
		had.processes = append(had.processes, process)
		for _, kind := range []string{"mnt", "net", "pid", "uts"} {
			own, _ := os.Readlink("/proc/self/ns/" + kind)
			if namespace, err := os.Readlink(filepath.Join(process, "ns", kind)); err == nil && namespace != own && !seen[namespace] {
				seen[namespace] = true
				had.namespaces = append(had.namespaces, namespace)
			}
		}
	}
	had.cgroups = append(glob(t, "/sys/fs/cgroup/swarmdiag-testbed-"+name), glob(t, "/sys/fs/cgroup/*/swarmdiag-testbed-"+name)...)
	return had
}

// checkGone looks for what is left of a testbed that is down, and for anything that keeps its namespaces alive.
func checkGone(t *testing.T, folder string, had possessions) {
	t.Helper()
	if left := ownedBy(t, filepath.Base(folder)); len(left.processes)+len(left.cgroups) > 0 {
		t.Errorf("left behind: %+v", left)
	}
	for _, link := range glob(t, "/proc/[0-9]*/ns/*") {
		namespace, _ := os.Readlink(link)
		for _, old := range had.namespaces {
			if namespace == old {
				t.Errorf("%s still is %s", link, old)
			}
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), folder) {
		t.Errorf("mounts left in %s", folder)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("folder %s: %v, want it gone", folder, err)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
