package engine

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/client"
)

// replay is an engine that answers from testdata/<cluster>. Within one pass, which ends with the list of networks, a
// second request for the same thing is refused.
type replay struct {
	*httptest.Server
	cluster string
	api     string

	mu          sync.Mutex // protects what follows
	asked       map[string]bool
	polls       int
	connections int
	answers     map[string]answer // by path, instead of the files
	events      chan string
}

type answer struct {
	status int
	body   string
}

var versioned = regexp.MustCompile(`^/v[0-9.]+`)

func newReplay(t *testing.T, cluster string) *replay {
	t.Helper()
	r := &replay{
		cluster: filepath.Join("testdata", cluster), api: "1.51",
		asked: map[string]bool{}, answers: map[string]answer{}, events: make(chan string),
	}
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.connections++
		}
	}
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// dial returns a client for it.
func (r *replay) dial(t *testing.T) *Client {
	t.Helper()
	c, err := Dial(client.WithHost("tcp://" + r.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (r *replay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	path := versioned.ReplaceAllString(request.URL.Path, "")
	w.Header().Set("Api-Version", r.api)
	w.Header().Set("Content-Type", "application/json")
	if path == "/events" {
		r.stream(w, request)
		return
	}
	status, body := r.reply(path)
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

func (r *replay) reply(path string) (int, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.answers[path]; ok {
		return a.status, a.body
	}
	if path == "/_ping" {
		return http.StatusOK, "OK"
	}
	if r.asked[path] {
		return http.StatusTooManyRequests, `{"message":"asked twice in one pass"}`
	}
	r.asked[path] = true
	if path == "/networks" {
		r.polls++
		r.asked = map[string]bool{}
	}
	content, err := os.ReadFile(filepath.Join(r.cluster, strings.TrimPrefix(path, "/")+".json"))
	if err != nil {
		return http.StatusNotFound, `{"message":"page not found"}`
	}
	return http.StatusOK, string(content)
}

func (r *replay) stream(w http.ResponseWriter, request *http.Request) {
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-request.Context().Done():
			return
		case event := <-r.events:
			fmt.Fprintln(w, event)
			w.(http.Flusher).Flush()
		}
	}
}

// answer makes it answer a path otherwise.
func (r *replay) answer(path string, status int, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[path] = answer{status, body}
}

func (r *replay) counts() (polls, connections int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.polls, r.connections
}
