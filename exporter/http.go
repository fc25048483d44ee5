package exporter

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector/peers"
)

// HandlerOptions are what the pages show, and who may see them.
type HandlerOptions struct {
	Metrics http.Handler
	// Healthy returns what is wrong with the agent itself, or nil.
	Healthy func() error
	// Standing returns what the agent is now.
	Standing func() peers.Standing
	// SpeakerAddr returns host and port of the agent that speaks, empty where that is not known.
	SpeakerAddr func() string
	// Result returns the last result; false while there is none.
	Result func() (analyzer.Result, bool)
	// Token opens /v1/; without one only loopback may read there. Open lets everybody.
	Token string
	Open  bool
	Log   *logrus.Entry
}

type pages struct{ HandlerOptions }

// NewHandler returns the handler of one listener: /metrics, /healthz and /readyz for everybody, and /v1/diagnoses.
func NewHandler(options HandlerOptions) http.Handler {
	p := pages{options}
	mux := http.NewServeMux()
	mux.Handle("/metrics", readOnly(p.Metrics))
	mux.Handle("/healthz", readOnly(http.HandlerFunc(p.health)))
	mux.Handle("/readyz", readOnly(http.HandlerFunc(p.ready)))
	mux.Handle("/v1/diagnoses", readOnly(p.guarded(http.HandlerFunc(p.diagnoses))))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusNotFound, "no such page; there are /metrics, /healthz, /readyz and /v1/diagnoses")
	})
	return mux
}

// readOnly refuses all methods but GET and HEAD.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			say(w, http.StatusMethodNotAllowed, "swarmdiag only shows things: use GET or HEAD")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// guarded lets pass who has the token, who asks from this machine, or everybody where the agent is open.
func (p pages) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case p.Open || fromLoopback(r) || p.hasToken(r):
			next.ServeHTTP(w, r)
		case p.Token == "":
			say(w, http.StatusForbidden, "this page answers on the loopback address only: the agent was given no token")
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="swarmdiag"`)
			say(w, http.StatusUnauthorized, "this page needs the agent's token: send it as Authorization: Bearer TOKEN")
		}
	})
}

// hasToken compares in constant time, whatever the lengths.
func (p pages) hasToken(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if p.Token == "" || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	given, wanted := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(p.Token))
	return subtle.ConstantTimeCompare(given[:], wanted[:]) == 1
}

// fromLoopback tells whether a program on this machine asks for itself: not for another one, as a reverse proxy does, nor for
// a web page that had its own name point to the loopback address.
func fromLoopback(r *http.Request) bool {
	if r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" {
		return false
	}
	return isLoopback(hostOnly(r.RemoteAddr)) && (isLoopback(hostOnly(r.Host)) || hostOnly(r.Host) == "localhost")
}

func hostOnly(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (p pages) health(w http.ResponseWriter, _ *http.Request) {
	if err := p.Healthy(); err != nil {
		say(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	say(w, http.StatusOK, "ok")
}

func (p pages) ready(w http.ResponseWriter, r *http.Request) {
	standing, status := p.Standing(), http.StatusOK
	if !standing.Ready {
		status = http.StatusServiceUnavailable
	}
	p.show(w, r, status, standing)
}

// diagnoses shows the last result where this agent speaks, else the way to the one that does.
func (p pages) diagnoses(w http.ResponseWriter, r *http.Request) {
	if !p.Standing().Speaker {
		addr := p.SpeakerAddr()
		if addr == "" {
			say(w, http.StatusServiceUnavailable, "this agent does not speak for the cluster, and no other one that does answers it; ask the agent on the leader")
			return
		}
		// Only the path that was asked for leads on: the query is whatever the client sent.
		http.Redirect(w, r, "http://"+addr+"/v1/diagnoses", http.StatusTemporaryRedirect)
		return
	}
	result, ok := p.Result()
	if !ok {
		say(w, http.StatusServiceUnavailable, "the agent has not looked at the cluster yet; try again in a moment")
		return
	}
	p.show(w, r, http.StatusOK, Redact(result))
}

// show writes a value as JSON.
func (p pages) show(w http.ResponseWriter, r *http.Request, status int, value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		p.Log.WithError(err).WithField("path", r.URL.Path).Error("page cannot be shown")
		say(w, http.StatusInternalServerError, "the page cannot be shown; the agent's log says why")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // a client that is gone needs no answer
}

// say writes one sentence.
func say(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(sentence + "\n")) // a client that is gone needs no answer
}
