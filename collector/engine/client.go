package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/docker/docker/client"
)

// idleTimeout is how long the one connection that is kept waits for the next request: longer than any sensible interval
// between polls, since each new connection of an ssh:// address is a login.
const idleTimeout = 10 * time.Minute

// maxReply bounds one reply, in bytes. A list of 50,000 tasks takes about a tenth of it.
const maxReply = 1 << 30

// nowhere is the address that Docker's client believes in: a socket that cannot exist.
const nowhere = "unix:///dev/null/docker.sock"

// Client asks one engine. It is Docker's client behind a transport that lets only GET and HEAD through.
type Client struct {
	api       *client.Client
	transport *readOnly
	host      string
}

// Dial prepares a client for the engine that the options name; it connects at the first request. The options are those
// of Docker's client: the address, TLS and the dialer of a docker context. Proxies of the environment are never used:
// an engine's address is in the operator's own network.
func Dial(opts ...client.Opt) (*Client, error) {
	c := &Client{}
	api, err := client.NewClientWithOpts(append(append([]client.Opt(nil), opts...), client.WithAPIVersionNegotiation(), c.seal)...)
	if err != nil {
		return nil, fmt.Errorf("prepare the connection to the Docker engine: %w", err)
	}
	c.api = api
	return c, nil
}

// seal takes the transport that the options made, and leaves Docker's client with no other way to the engine than
// readOnly: it also opens connections beside its transport (postHijacked), and those end nowhere.
func (c *Client) seal(api *client.Client) error {
	transport, ok := api.HTTPClient().Transport.(*http.Transport)
	if !ok {
		return fmt.Errorf("unknown transport %T", api.HTTPClient().Transport)
	}
	address, err := client.ParseHostURL(api.DaemonHost())
	if err != nil {
		return err
	}
	transport.Proxy = nil
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = 1, 1, idleTimeout
	scheme := "http"
	if transport.TLSClientConfig != nil {
		scheme = "https"
	}
	c.host, c.transport = api.DaemonHost(), &readOnly{next: transport, address: address}
	return errors.Join(
		client.WithHTTPClient(&http.Client{Transport: &http.Transport{}})(api), // WithHost below configures it
		client.WithHost(nowhere)(api),
		client.WithScheme(scheme)(api),
		client.WithHTTPClient(&http.Client{Transport: c.transport, CheckRedirect: client.CheckRedirect})(api),
	)
}

// Host returns the address of the engine, as errors name it.
func (c *Client) Host() string { return c.host }

// Local tells whether the engine is on this machine: its address is a socket.
func (c *Client) Local() bool {
	return strings.HasPrefix(c.host, "unix://") || strings.HasPrefix(c.host, "npipe://")
}

// Call makes errors name this address. The dialer of a docker context hides the one that people know, such as
// ssh://user@host, behind one of its own.
func (c *Client) Call(address string) { c.host = address }

// Close ends the connection that is kept.
func (c *Client) Close() { c.transport.next.CloseIdleConnections() }

// readOnly sends GET and HEAD requests to one address, and no others anywhere.
type readOnly struct {
	next    *http.Transport
	address *url.URL
}

// RoundTrip implements http.RoundTripper.
func (t *readOnly) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, fmt.Errorf("%s %s was not sent: swarmdiag only reads", request.Method, request.URL.Path)
	}
	request = request.Clone(request.Context())
	request.URL.Path = t.address.Path + request.URL.Path
	request.Host = t.address.Host
	if t.address.Scheme == "unix" || t.address.Scheme == "npipe" {
		request.Host = client.DummyHost
	}
	request.URL.Host = request.Host
	response, err := t.next.RoundTrip(request)
	switch {
	case err == nil:
		response.Body = http.MaxBytesReader(nil, response.Body, maxReply)
		return response, nil
	case request.Context().Err() != nil:
		return nil, err
	}
	return nil, &noAnswer{err}
}

// noAnswer keeps what went wrong below HTTP, of which Docker's client makes one sentence.
type noAnswer struct{ cause error }

func (e *noAnswer) Error() string { return "no answer" }

func (e *noAnswer) Unwrap() error { return e.cause }

// within bounds one request.
func within[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return call(ctx)
}
