package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/client"
)

// drive calls every method of Docker's client with something for each argument, and returns how many there were.
func drive(t *testing.T, api *client.Client) int {
	t.Helper()
	of, called := reflect.ValueOf(api), 0
	for i := range of.NumMethod() {
		method := of.Method(i)
		var arguments []reflect.Value
		for j := range method.Type().NumIn() {
			if method.Type().IsVariadic() && j == method.Type().NumIn()-1 {
				break
			}
			arguments = append(arguments, something(t, method.Type().In(j)))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if len(arguments) > 0 && arguments[0].Type().Implements(reflect.TypeFor[context.Context]()) {
			arguments[0] = reflect.ValueOf(ctx)
		}
		method.Call(arguments)
		cancel()
		called++
	}
	return called
}

func something(t *testing.T, kind reflect.Type) reflect.Value {
	switch {
	case kind == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(t.Context())
	case kind == reflect.TypeFor[io.Reader]():
		return reflect.ValueOf(strings.NewReader("{}"))
	case kind.Kind() == reflect.String:
		return reflect.ValueOf("x").Convert(kind)
	case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.String:
		return reflect.ValueOf([]string{"x"})
	case kind.Kind() == reflect.Pointer:
		return reflect.New(kind.Elem())
	}
	return reflect.Zero(kind)
}

// witness is an engine that remembers the methods of all requests, also of those that take the connection over.
type witness struct {
	*httptest.Server
	mu      sync.Mutex
	methods map[string]int
}

func newWitness(t *testing.T) *witness {
	w := &witness{methods: map[string]int{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(reply http.ResponseWriter, request *http.Request) {
		w.mu.Lock()
		w.methods[request.Method]++
		w.mu.Unlock()
		reply.Header().Set("Api-Version", "1.51")
		reply.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(reply, "{}")
	}))
	t.Cleanup(w.Close)
	return w
}

func TestNoMethodOfTheClientWrites(t *testing.T) {
	t.Parallel()
	open := newWitness(t)
	unsealed, err := client.NewClientWithOpts(client.WithHost("tcp://" + open.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	drive(t, unsealed)
	if open.methods["POST"] < 30 || open.methods["DELETE"] < 5 || open.methods["PUT"] < 1 {
		t.Fatalf("an open client sent %v: the test no longer drives what writes", open.methods)
	}

	read := newWitness(t)
	c, err := Dial(client.WithHost("tcp://" + read.Listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	called := drive(t, c.api)
	if read.methods["GET"] < 20 || read.methods["HEAD"] == 0 {
		t.Errorf("%d methods sent %v: what reads does not reach the engine", called, read.methods)
	}
	for method, count := range read.methods {
		if method != http.MethodGet && method != http.MethodHead {
			t.Errorf("%d %s requests left", count, method)
		}
	}
}

func TestAWriteIsRefusedByName(t *testing.T) {
	t.Parallel()
	c, err := Dial(client.WithHost("tcp://127.0.0.1:1"), client.WithVersion("1.51"))
	if err != nil {
		t.Fatal(err)
	}
	err = c.api.ContainerKill(t.Context(), "x", "")
	if err == nil || !strings.Contains(err.Error(), "POST /v1.51/containers/x/kill was not sent: swarmdiag only reads") {
		t.Error(err)
	}
}

func TestProxiesOfTheEnvironmentAreIgnored(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.invalid:3128")
	t.Setenv("http_proxy", "http://proxy.invalid:3128")
	var dialed []string
	c, err := Dial(client.WithHost("tcp://engine.invalid:2375"),
		client.WithDialContext(func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = append(dialed, address)
			return nil, errors.New("enough")
		}))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.api.Ping(t.Context())
	if len(dialed) == 0 || dialed[0] != "engine.invalid:2375" {
		t.Errorf("dialed %q", dialed)
	}
}

func TestAddressesReachTheirEngine(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	handler := http.HandlerFunc(func(reply http.ResponseWriter, request *http.Request) {
		seen <- request.Host + request.URL.Path
		reply.Header().Set("Api-Version", "1.51")
	})
	socket := t.TempDir() + "/docker.sock"
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	unix := httptest.NewUnstartedServer(handler)
	unix.Listener = listener
	unix.Start()
	defer unix.Close()
	tcp := httptest.NewServer(handler)
	defer tcp.Close()
	encrypted := httptest.NewTLSServer(handler)
	defer encrypted.Close()
	address := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	through := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address(tcp))
	}
	for _, c := range []struct {
		name, want string
		opts       []client.Opt
	}{
		{"a socket", client.DummyHost + "/_ping", []client.Opt{client.WithHost("unix://" + socket)}},
		{"TCP", address(tcp) + "/_ping", []client.Opt{client.WithHost("tcp://" + address(tcp))}},
		{"TCP with a path", address(tcp) + "/engine/_ping", []client.Opt{client.WithHost("tcp://" + address(tcp) + "/engine")}},
		{"TLS", address(encrypted) + "/_ping", []client.Opt{client.WithHTTPClient(encrypted.Client()), client.WithHost("tcp://" + address(encrypted))}},
		{"a helper's dialer, as for ssh", "docker.example.com/_ping", []client.Opt{
			client.WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: through}}),
			client.WithHost("http://docker.example.com"), client.WithDialContext(through),
		}},
	} {
		client, err := Dial(c.opts...)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if _, err := client.api.Ping(t.Context()); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := <-seen; got != c.want {
			t.Errorf("%s: asked %s, want %s", c.name, got, c.want)
		}
		client.Close()
	}
}
