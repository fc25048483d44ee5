package exporter

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector/peers"
)

func silent() *logrus.Entry {
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	return logrus.NewEntry(logger)
}

// speakingPages are those of a healthy agent that speaks and has a token.
func speakingPages() HandlerOptions {
	return HandlerOptions{
		Metrics:     http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "swarmdiag_speaker 1\n") }),
		Healthy:     func() error { return nil },
		Standing:    func() peers.Standing { return peers.Standing{Node: "me", Ready: true, Fresh: true, Speaker: true} },
		SpeakerAddr: func() string { return "" },
		Result: func() (analyzer.Result, bool) {
			return result(diagnosed(memory, func(d *analyzer.Diagnosis) { d.DockerSays = "password=hunter2 -> refused" })), true
		},
		Token: "s3cret",
		Log:   silent(),
	}
}

const (
	elsewhere = "192.0.2.7:40000"
	loopback  = "127.0.0.1:40000"
)

func TestPages(t *testing.T) {
	t.Parallel()
	silentAgent := func(addr string) func(*HandlerOptions) {
		return func(o *HandlerOptions) {
			o.Standing = func() peers.Standing { return peers.Standing{Node: "me", Ready: true} }
			o.SpeakerAddr = func() string { return addr }
		}
	}
	tests := []struct {
		name    string
		change  func(*HandlerOptions)
		method  string
		path    string
		from    string
		host    string
		headers map[string]string

		status   int
		says     string
		location string
	}{
		{name: "metrics answer everybody", path: "/metrics", status: 200, says: "swarmdiag_speaker 1"},
		{name: "health answers everybody", path: "/healthz", status: 200, says: "ok"},
		{
			name: "an agent that is ill says why", path: "/healthz", status: 503, says: "the loop has not moved for a minute",
			change: func(o *HandlerOptions) {
				o.Healthy = func() error { return errors.New("the loop has not moved for a minute") }
			},
		},
		{name: "readiness gives the node", path: "/readyz", status: 200, says: `{"node":"me","ready":true,"fresh":true,"speaker":true,"manager":false,"leader":false}`},
		{
			name: "an agent that is not ready gives its node too", path: "/readyz", status: 503, says: `"reason":"no manager answers"`,
			change: func(o *HandlerOptions) {
				o.Standing = func() peers.Standing { return peers.Standing{Node: "me", Reason: "no manager answers"} }
			},
		},
		{name: "diagnoses need the token", path: "/v1/diagnoses", status: 401, says: "Bearer TOKEN"},
		{name: "the token opens diagnoses", path: "/v1/diagnoses", headers: map[string]string{"Authorization": "Bearer s3cret"}, status: 200, says: `"cause":"insufficient-memory"`},
		{name: "the scheme is told in any case", path: "/v1/diagnoses", headers: map[string]string{"Authorization": "bearer s3cret"}, status: 200, says: `"diagnoses":[`},
		{name: "a wrong token is refused", path: "/v1/diagnoses", headers: map[string]string{"Authorization": "Bearer s3cre"}, status: 401},
		{name: "a token of another scheme is refused", path: "/v1/diagnoses", headers: map[string]string{"Authorization": "Basic s3cret"}, status: 401},
		{
			name: "no token is not an empty token", path: "/v1/diagnoses", headers: map[string]string{"Authorization": "Bearer "}, status: 403,
			says: "given no token", change: func(o *HandlerOptions) { o.Token = "" },
		},
		{name: "an open agent shows diagnoses to everybody", path: "/v1/diagnoses", status: 200, change: func(o *HandlerOptions) { o.Open = true }},
		{name: "loopback needs no token", path: "/v1/diagnoses", from: loopback, host: "localhost:9000", status: 200},
		{name: "loopback of IPv6 needs no token", path: "/v1/diagnoses", from: "[::1]:40000", host: "[::1]:9000", status: 200},
		{name: "loopback by another name needs the token", path: "/v1/diagnoses", from: loopback, host: "rebound.example.com", status: 401},
		{
			name: "a proxy on loopback needs the token", path: "/v1/diagnoses", from: loopback, host: "localhost", status: 401,
			headers: map[string]string{"X-Forwarded-For": "192.0.2.9"},
		},
		{name: "texts are redacted", path: "/v1/diagnoses", from: loopback, host: "localhost", status: 200, says: `"docker_says":"password=(redacted) -> refused"`},
		{
			name: "who does not speak leads to who does", path: "/v1/diagnoses?q=1", from: loopback, host: "localhost", status: 307,
			change: silentAgent("10.0.0.2:9000"), location: "http://10.0.0.2:9000/v1/diagnoses",
		},
		{name: "who may not read is not led on", path: "/v1/diagnoses", status: 401, change: silentAgent("10.0.0.2:9000")},
		{
			name: "who knows no speaker says so", path: "/v1/diagnoses", from: loopback, host: "localhost", status: 503,
			change: silentAgent(""), says: "does not speak for the cluster",
		},
		{
			name: "a speaker that has not looked yet says so", path: "/v1/diagnoses", from: loopback, host: "localhost", status: 503,
			change: func(o *HandlerOptions) { o.Result = func() (analyzer.Result, bool) { return analyzer.Result{}, false } },
			says:   "has not looked",
		},
		{name: "another page is told which there are", path: "/v1/other", status: 404, says: "/v1/diagnoses"},
		{name: "a write is refused", method: "POST", path: "/v1/diagnoses", status: 405, says: "use GET or HEAD"},
		{name: "a write to the metrics is refused", method: "DELETE", path: "/metrics", status: 405},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := speakingPages()
			if test.change != nil {
				test.change(&options)
			}
			request := httptest.NewRequest("GET", test.path, nil)
			request.RemoteAddr, request.Host = elsewhere, "node-1:9000"
			if test.method != "" {
				request.Method = test.method
			}
			if test.from != "" {
				request.RemoteAddr, request.Host = test.from, test.host
			}
			for name, value := range test.headers {
				request.Header.Set(name, value)
			}
			response := httptest.NewRecorder()
			NewHandler(options).ServeHTTP(response, request)
			body := response.Body.String()
			if response.Code != test.status || !strings.Contains(body, test.says) {
				t.Errorf("got %d %s", response.Code, body)
			}
			if got := response.Header().Get("Location"); got != test.location {
				t.Errorf("leads to %q, want %q", got, test.location)
			}
			if strings.Contains(body, "hunter2") || strings.Contains(body, "s3cret") {
				t.Errorf("leaks: %s", body)
			}
			if test.status == 405 && response.Header().Get("Allow") != "GET, HEAD" {
				t.Error("does not say what is allowed")
			}
		})
	}
}

func TestTheServerAnswersUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	options := speakingPages()
	entered, leave := make(chan struct{}), make(chan struct{})
	options.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "late")
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, listener, NewHandler(options), silent()) }()

	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	response, err := client.Get("http://" + listener.Addr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	var standing peers.Standing
	if err := errors.Join(json.NewDecoder(response.Body).Decode(&standing), response.Body.Close()); err != nil || standing.Node != "me" {
		t.Errorf("got %+v, %v", standing, err)
	}

	late := make(chan string, 1)
	go func() {
		response, err := client.Get("http://" + listener.Addr().String() + "/metrics")
		if err != nil {
			late <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		late <- string(body)
	}()
	<-entered
	cancel()
	close(leave)
	if got := <-late; got != "late" {
		t.Errorf("the request under way got %q", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		t.Error("the listener is still open")
	}
}

func TestAServerWhoseListenerBreaksSaysSo(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := Serve(t.Context(), listener, NewHandler(speakingPages()), silent()); err == nil || !strings.Contains(err.Error(), "serve on 127.0.0.1") {
		t.Errorf("got %v", err)
	}
}

func TestARequestThatNeverEndsDoesNotHoldUpTheShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		listener := &oneConnection{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
		listener.conn <- far
		ctx, cancel := context.WithCancel(t.Context())
		options := speakingPages()
		options.Metrics = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, listener, NewHandler(options), silent()) }()
		if _, err := io.WriteString(near, "GET /metrics HTTP/1.1\r\nHost: node-1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		cancel()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "shut down") {
			t.Errorf("ended with %v", err)
		}
		if took := time.Since(began); took > shutdownWithin {
			t.Errorf("took %s", took)
		}
		near.Close()
	})
}

// oneConnection is a listener with a single connection.
type oneConnection struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l *oneConnection) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConnection) Close() error { close(l.closed); return nil }

func (l *oneConnection) Addr() net.Addr { return &net.TCPAddr{} }
