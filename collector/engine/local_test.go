package engine

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/probes"
)

// marker is what must not be kept.
const marker = "do-not-keep"

// nodeEngine answers as the engine of one node does.
type nodeEngine struct {
	*httptest.Server
	events chan string

	mu        sync.Mutex // protects what follows
	hangs     bool
	state     string
	inspected int
	over      chan struct{}
}

func newNodeEngine(t *testing.T) (*nodeEngine, *Client) {
	t.Helper()
	n := &nodeEngine{events: make(chan string), state: "running", over: make(chan struct{})}
	n.Server = httptest.NewServer(n)
	t.Cleanup(func() { close(n.over); n.CloseClientConnections(); n.Close() })
	c, err := Dial(client.WithHost("tcp://" + n.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return n, c
}

func (n *nodeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	hangs, state := n.hangs, n.state
	n.mu.Unlock()
	if hangs {
		select {
		case <-r.Context().Done():
		case <-n.over:
		}
		return
	}
	w.Header().Set("Api-Version", "1.47")
	w.Header().Set("Content-Type", "application/json")
	path := versioned.ReplaceAllString(r.URL.Path, "")
	switch path {
	case "/events":
		n.stream(w, r)
	case "/containers/c1/json":
		n.mu.Lock()
		n.inspected++
		n.mu.Unlock()
		fmt.Fprintf(w, `{"Id":"c1","Name":"/web.1.t1","State":{"Status":%q,"Pid":4711,"StartedAt":"2026-01-02T03:04:05Z","FinishedAt":"0001-01-01T00:00:00Z"},
			"HostConfig":{"CgroupParent":"/swarm"},"Config":{"Env":["PASSWORD=%s"],"Cmd":["--token=%s"]},
			"NetworkSettings":{"SandboxKey":"/run/docker/netns/abc","Networks":{"shop":{"NetworkID":"n1","IPAddress":"10.0.1.3"}}}}`, state, marker, marker)
	default:
		body, ok := n.bodies(state)[path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			body = `{"message":"no such page"}`
		}
		fmt.Fprint(w, body)
	}
}

func (n *nodeEngine) bodies(state string) map[string]string {
	return map[string]string{
		"/_ping": "OK",
		"/info": `{"ServerVersion":"27.5.1","DockerRootDir":"/srv/docker","CgroupDriver":"systemd","CgroupVersion":"2",
			"GenericResources":[{"DiscreteResourceSpec":{"Kind":"gpu","Value":4}},{"NamedResourceSpec":{"Kind":"fpga","Value":"a"}}],
			"Plugins":{"Volume":["local","nfs"]},
			"Swarm":{"NodeID":"node1","NodeAddr":"192.0.2.1","LocalNodeState":"active","RemoteManagers":[{"NodeID":"m1","Addr":"192.0.2.9:2377"}]}}`,
		"/containers/json": fmt.Sprintf(`[{"Id":"c1","Names":["/web.1.t1"],"State":%q,"Labels":{"com.docker.swarm.task.id":"t1",
			"com.docker.swarm.service.id":"s1","com.docker.swarm.service.name":"web"},"Ports":[{"PublicPort":80,"Type":"tcp","IP":"0.0.0.0"},
			{"PublicPort":80,"Type":"tcp","IP":"::"},{"PrivatePort":1}],
			"Mounts":[{"Type":"volume","Name":"data","Driver":"nfs","Source":"/mnt/data","Destination":"/data"}]}]`, state),
		"/networks": `[{"Id":"n1","Name":"shop","Driver":"overlay","Scope":"swarm","Options":{"encrypted":""},"IPAM":{"Config":[{"Subnet":"10.0.1.0/24"}]}}]`,
		"/volumes": fmt.Sprintf(`{"Volumes":[{"Name":"data","Driver":"local","Mountpoint":"/srv/docker/volumes/data/_data",
			"Options":{"type":"nfs","device":"//ann:%[1]s@files/share","o":"username=ann,password=%[1]s,addr=192.0.2.7"}},
			{"Name":"other","Driver":"s3","Options":{"secret":%[1]q}}]}`, marker),
		"/images/json": `[{"Id":"sha256:1","RepoTags":["nginx:1.27"],"RepoDigests":["nginx@sha256:2"]}]`,
		"/plugins": fmt.Sprintf(`[{"Id":"p1","Name":"vieux/sshfs:latest","Enabled":true,"Settings":{"Env":["KEY=%s"]},
			"Config":{"Interface":{"Socket":"sshfs.sock","Types":["docker.volumedriver/1.0"]}}}]`, marker),
	}
}

func (n *nodeEngine) stream(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-n.over:
			return
		case event := <-n.events:
			fmt.Fprintln(w, event)
			w.(http.Flusher).Flush()
		}
	}
}

func (n *nodeEngine) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// keep runs a keeper until the test ends, and returns a wait for what it knows.
func keep(t *testing.T, c *Client) (*Local, func(string, func(*probes.Engine) bool) *probes.Engine) {
	t.Helper()
	news := make(chan struct{}, 1)
	local := NewLocal(c, time.Now, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	var running sync.WaitGroup
	running.Go(func() { local.Run(t.Context()) })
	t.Cleanup(running.Wait)
	return local, func(what string, ok func(*probes.Engine) bool) *probes.Engine {
		t.Helper()
		deadline := time.After(wait)
		for {
			if e := local.Engine(); e != nil && ok(e) {
				return e
			}
			select {
			case <-news:
			case <-deadline:
				t.Fatalf("%s: the engine says %+v", what, local.Engine())
			}
		}
	}
}

func hasContainers(e *probes.Engine) bool { return len(e.Containers) > 0 }

func TestANodesEngineTellsWhatProbesNeedAndNoMore(t *testing.T) {
	t.Parallel()
	_, c := newNodeEngine(t)
	_, until := keep(t, c)
	got := *until("containers are known", hasContainers)
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), marker) {
		t.Errorf("it keeps what it must not: %s", text)
	}
	if got.At.IsZero() || got.Answered.IsZero() || got.Ping <= 0 {
		t.Errorf("asked %v, answered %v after %v", got.At, got.Answered, got.Ping)
	}
	got.At, got.Answered, got.Ping = time.Time{}, time.Time{}, 0
	want := probes.Engine{
		Version: "27.5.1", DataRoot: "/srv/docker", CgroupVersion: 2, CgroupDriver: "systemd",
		Swarm:   probes.EngineSwarm{NodeID: "node1", Addr: "192.0.2.1", State: "active", Managers: []string{"192.0.2.9:2377"}},
		Generic: []string{"fpga=a", "gpu=4"}, VolumeDrivers: []string{"local", "nfs"},
		Containers: []probes.Container{{
			ID: "c1", Name: "web.1.t1", State: "running", Pid: 4711, CgroupParent: "/swarm", Sandbox: "/run/docker/netns/abc",
			Task: "t1", Service: "s1", ServiceName: "web", Networks: map[string]string{"n1": "10.0.1.3"},
			Mounts: []probes.ContainerMount{{Type: "volume", Volume: "data", Driver: "nfs", Source: "/mnt/data", Target: "/data"}},
			Ports:  []probes.HostPort{{Port: 80, Protocol: "tcp"}}, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}},
		Networks: []probes.Network{{ID: "n1", Name: "shop", Driver: "overlay", Scope: "swarm", Subnets: []string{"10.0.1.0/24"}, Encrypted: true}},
		Volumes: []probes.Volume{
			{Name: "data", Driver: "local", Mountpoint: "/srv/docker/volumes/data/_data", Type: "nfs", Device: "//files/share", Server: "192.0.2.7"},
			{Name: "other", Driver: "s3"},
		},
		Images: []probes.Image{{ID: "sha256:1", Names: []string{"nginx:1.27", "nginx@sha256:2"}}},
		Plugins: []probes.ManagedPlugin{{
			ID: "p1", Name: "vieux/sshfs:latest", Enabled: true, Types: []string{"docker.volumedriver/1.0"}, Socket: "/run/docker/plugins/p1/sshfs.sock",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAContainerThatEndsIsInspectedAgainAndNoOther(t *testing.T) {
	t.Parallel()
	n, c := newNodeEngine(t)
	_, until := keep(t, c)
	until("it runs", hasContainers)
	n.events <- `{"Type":"network","Action":"create","Actor":{"ID":"n2"}}`
	n.events <- `{"Type":"container","Action":"exec_start: true","Actor":{"ID":"c1"}}`
	n.set(func() { n.state = "exited" })
	n.events <- `{"Type":"container","Action":"die","Actor":{"ID":"c1"}}`
	until("it ended", func(e *probes.Engine) bool { return e.Containers[0].State == "exited" })
	n.set(func() {
		if n.inspected > 3 { // at the start, after the list that follows the first stream, and as it ended
			t.Errorf("inspected %d times", n.inspected)
		}
	})
}

func TestAnEngineThatHangsIsSaidToAndComesBack(t *testing.T) {
	t.Parallel()
	n, c := newNodeEngine(t)
	_, until := keep(t, c)
	until("it runs", hasContainers)
	n.set(func() { n.hangs = true })
	hung := until("it hangs", func(e *probes.Engine) bool { return e.Failure != "" })
	if want := "no answer to /_ping within 5s"; hung.Failure != want || len(hung.Containers) != 1 || !hung.Answered.Before(hung.At) {
		t.Errorf("got %q with %d containers, answered %v before %v, want %q", hung.Failure, len(hung.Containers), hung.Answered, hung.At, want)
	}
	n.set(func() { n.hangs = false })
	until("it is back", func(e *probes.Engine) bool { return e.Failure == "" })
}

func TestWhereAVolumeLeadsIsFoundWithoutItsCredentials(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ options, device, server, shown string }{
		"nfs by option":       {"addr=192.0.2.7,rw", ":/export", "192.0.2.7", ":/export"},
		"nfs by device":       {"rw", "files:/export", "files", "files:/export"},
		"nfs at an address":   {"", "[2001:db8::1]:/export", "2001:db8::1", "[2001:db8::1]:/export"},
		"a share":             {"username=a", "//files/share", "files", "//files/share"},
		"a share with a name": {"", "//ann:word@files/share", "files", "//files/share"},
		"a URL":               {"", "https://ann:word@files/dav", "", "https://files/dav"},
		"a name and a word":   {"", "ann:word@files:/x", "files", "files:/x"},
		"a folder":            {"bind", "/srv/data", "", "/srv/data"},
		"nothing":             {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := withoutUser(test.device)
			if server := serverOf(test.options, shown); shown != test.shown || server != test.server {
				t.Errorf("got %q at %q, want %q at %q", shown, server, test.shown, test.server)
			}
		})
	}
}
