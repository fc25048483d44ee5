//go:build live

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// token opens /v1/ in this test.
const token = "0123456789abcdef"

// answer is what an agent answers to a request.
type answer struct {
	status         int
	location, text string
}

// ask asks an agent for a page, with a token where one is given, and follows no redirect.
func ask(t *testing.T, client *http.Client, address, path, token string) answer {
	t.Helper()
	client.Timeout = 10 * time.Second
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{text: err.Error()}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header.Get("Location"), string(text)}
}

// fromBridge asks a node's agent as another machine in the nodes' network does.
func (r *rig) fromBridge(node int, path, token string) answer {
	r.t.Helper()
	return ask(r.t, &http.Client{Transport: &http.Transport{DialContext: r.Dial}}, r.Address(node)+":"+agentPort, path, token)
}

// fromLoopback asks a node's agent by the loopback address of its container, without a token.
func (r *rig) fromLoopback(node int, path string) answer {
	r.t.Helper()
	container := r.docker(node, "ps", "-q", "--filter", "name=swarmdiag")
	pid := r.docker(node, "inspect", "-f", "{{.State.Pid}}", container)
	const get = `exec 3<>/dev/tcp/127.0.0.1/` + agentPort + ` && printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$0" >&3 && cat <&3`
	said, err := r.Exec(r.t.Context(), node, "nsenter", "--target", pid, "--net", "bash", "-c", get, path)
	if err != nil {
		r.t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(said+"\n")), nil)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, said)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header.Get("Location"), string(text)}
}

// diagnoses reads the page /v1/diagnoses.
func (r *rig) diagnoses(a answer) analyzer.Result {
	r.t.Helper()
	var result analyzer.Result
	if err := json.Unmarshal([]byte(a.text), &result); err != nil || a.status != http.StatusOK {
		r.t.Fatalf("status %d: %v\n%s", a.status, err, a.text)
	}
	return result
}

// willShow waits until a page shows what a look finds: an agent that began a moment ago may not have looked yet, and finds
// remedies again only half a minute after the agents' own tasks moved.
func (r *rig) willShow(what string, page func() answer) {
	r.t.Helper()
	r.eventually(2*time.Minute, func() error {
		a := page()
		var result analyzer.Result
		if err := json.Unmarshal([]byte(a.text), &result); err != nil || a.status != http.StatusOK {
			return fmt.Errorf("%s: %d %s", what, a.status, a.text)
		}
		if diff := r.difference(r.bothStuck(), comparable(result)); diff != "" {
			return fmt.Errorf("%s: other diagnoses (-want +got):\n%s", what, diff)
		}
		return nil
	})
}

// speakingPage is the page of the diagnoses on the node that speaks, as a redirect says it.
func (r *rig) speakingPage(node int) string {
	return "http://" + r.Address(node) + ":" + agentPort + "/v1/diagnoses"
}

// deployWithToken deploys, upgrades and gives the agents the token, all as documented.
func (r *rig) deployWithToken() {
	r.deploy()
	r.sh(documented(r.t, "docker service update --no-resolve-image"))
	r.sh("TOKEN=" + token + "\n" + documented(r.t, "printf %s"))
	r.sh(documented(r.t, "docker service update", "--secret-add"))
	r.eventually(time.Minute, func() error { return r.agentsRun("swarmdiag") })
	r.eventually(30*time.Second, func() error { return r.speaks(manager) })
}

// speaks tells whether a node's agent speaks.
func (r *rig) speaks(node int) error {
	if text := r.fromBridge(node, "/metrics", "").text; !strings.Contains(text, "\nswarmdiag_speaker 1\n") {
		return fmt.Errorf("the agent at %s does not speak: %s", r.Address(node), r.fromBridge(node, "/readyz", "").text)
	}
	return nil
}

// tokenOpens asks with and without the token, from another machine and from the agent's own.
func (r *rig) tokenOpens() {
	for _, node := range []int{manager, worker} {
		for _, wrong := range []string{"", "wrong", token[1:]} {
			if a := r.fromBridge(node, "/v1/diagnoses", wrong); a.status != http.StatusUnauthorized || strings.Contains(a.text, "too-large") {
				r.t.Errorf("node %d with the token %q: %d %s", node, wrong, a.status, a.text)
			}
		}
		if a := r.fromBridge(node, "/metrics", ""); a.status != http.StatusOK {
			r.t.Errorf("node %d, /metrics without a token: %d", node, a.status)
		}
	}
	r.willShow("with the token", func() answer { return r.fromBridge(manager, "/v1/diagnoses", token) })
	r.willShow("from loopback", func() answer { return r.fromLoopback(manager, "/v1/diagnoses") })
	for name, a := range map[string]answer{"with the token": r.fromBridge(worker, "/v1/diagnoses", token), "from loopback": r.fromLoopback(worker, "/v1/diagnoses")} {
		if a.status != http.StatusTemporaryRedirect || a.location != r.speakingPage(manager) {
			r.t.Errorf("the worker %s: %d %s %s", name, a.status, a.location, a.text)
		}
	}
}
