package peers

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

func TestAgentsAnswerWhereTheirNodesAre(t *testing.T) {
	t.Parallel()
	store := collector.NewStore()
	err := store.Put(
		&api.Node{ID: "a", Role: api.NodeRoleManager, Status: api.NodeStatus{Addr: "0.0.0.0"}, ManagerStatus: &api.ManagerStatus{Addr: "10.0.0.1:2377", Leader: true}},
		&api.Node{ID: "b", ManagerStatus: &api.ManagerStatus{Addr: "0.0.0.0:2377"}, Status: api.NodeStatus{Addr: "10.0.0.2"}},
		&api.Node{ID: "c", Role: api.NodeRoleManager, Status: api.NodeStatus{Addr: "fd00::3"}},
		&api.Node{ID: "d", Status: api.NodeStatus{Addr: "10.0.0.4"}},
		&api.Node{ID: "e"},
		&api.Node{ID: "f", Status: api.NodeStatus{Addr: "10.0.0.6"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	state := store.Snapshot()
	want := []Agent{
		{Node: "a", Addr: "10.0.0.1:9000"},
		{Node: "b", Addr: "10.0.0.2:9000"},
		{Node: "c", Addr: "[fd00::3]:9000"},
	}
	if diff := cmp.Diff(want, Agents(state, "f", 9000, true)); diff != "" {
		t.Errorf("agents on managers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Agent{{Node: "d", Addr: "10.0.0.4:9000"}}, Agents(state, "f", 9000, false)); diff != "" {
		t.Errorf("agents on workers (-want +got):\n%s", diff)
	}
	for self, want := range map[string]Standing{
		"a":    {Node: "a", Fresh: true, Manager: true, Leader: true},
		"c":    {Node: "c", Fresh: true, Manager: true},
		"d":    {Node: "d", Fresh: true},
		"gone": {Node: "gone", Fresh: true},
	} {
		if diff := cmp.Diff(want, StandingOf(state, self, true)); diff != "" {
			t.Errorf("standing of %s (-want +got):\n%s", self, diff)
		}
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	standing := Standing{Node: "a", Ready: false, Reason: "no manager answers"}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    Standing
		err     string
	}{
		{
			name: "an agent that is not ready answers too",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
				_ = json.NewEncoder(w).Encode(standing)
			},
			want: standing,
		},
		{
			name:    "something else at the port is no agent",
			handler: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
			err:     "read answer of agent at",
		},
		{
			name:    "a redirect is not followed",
			handler: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			err:     "read answer of agent at",
		},
		{
			name: "an endless answer is cut off",
			handler: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(strings.Repeat(" ", 2*answerLimit) + "{}"))
			},
			err: "read answer of agent at",
		},
		{
			name: "an agent that does not answer is given up after a second",
			handler: func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-time.After(10 * answerTime):
				}
			},
			err: "context deadline exceeded",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.handler)
			defer server.Close()
			client := NewClient()
			defer client.CloseIdleConnections()
			got, err := Ask(t.Context(), client, server.Listener.Addr().String())
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Fatalf("got error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("standing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheClientKeepsItsConnection(t *testing.T) {
	t.Parallel()
	opened := make(chan struct{}, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(Standing{Node: "a"})
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	client := NewClient()
	defer client.CloseIdleConnections()
	for range 5 {
		if _, err := Ask(t.Context(), client, server.Listener.Addr().String()); err != nil {
			t.Fatal(err)
		}
	}
	if len(opened) != 1 {
		t.Errorf("%d connections were opened", len(opened))
	}
}
