//go:build live

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// enginePath is the path of a request to an engine: the version of the API, and what is asked.
var enginePath = regexp.MustCompile(`^(?:/v[0-9.]+)?(/[^/]*)`)

// engineProxy stands before an engine, as socket proxies and TLS terminators do, and knows what it was asked.
type engineProxy struct {
	Refuses string // an endpoint, such as /networks, that it answers with 403
	Says    string // the newest version of the API that it lets the engine speak

	mu    sync.Mutex
	asked []string // methods and endpoints
}

// serve lets the proxy answer on a listener, in front of a node's engine, until the test ends.
func (p *engineProxy) serve(r *rig, listener net.Listener, node int) {
	socket := r.Socket(node)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) { request.Out.URL.Scheme, request.Out.URL.Host = "http", "docker" },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}},
		FlushInterval: -1, // events
		ModifyResponse: func(response *http.Response) error {
			if p.Says != "" {
				response.Header.Set("Api-Version", p.Says)
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
	}
	server := &http.Server{ErrorLog: proxy.ErrorLog, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		endpoint := enginePath.FindStringSubmatch(request.URL.Path)[1]
		p.mu.Lock()
		p.asked = append(p.asked, request.Method+" "+endpoint)
		p.mu.Unlock()
		if endpoint == p.Refuses {
			http.Error(w, `{"message":"the proxy does not allow this"}`, http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, request)
	})}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) })
	r.t.Cleanup(func() { _ = server.Close(); served.Wait() })
}

// requests are the methods and endpoints that were asked for, each once.
func (p *engineProxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(p.asked)
	slices.Sort(all)
	return slices.Compact(all)
}

// onlyRead tells whether the proxy was asked for something, and for nothing but GET and HEAD.
func (p *engineProxy) onlyRead(t *testing.T) {
	t.Helper()
	all := p.requests()
	if !slices.Contains(all, "GET /tasks") {
		t.Errorf("the tasks were not read through the proxy: %q", all)
	}
	for _, request := range all {
		if !strings.HasPrefix(request, "GET ") && !strings.HasPrefix(request, "HEAD ") {
			t.Errorf("the engine was asked for %s", request)
		}
	}
}

// socketProxy puts a proxy in front of the manager's engine and returns its address.
func (r *rig) socketProxy(p *engineProxy) string {
	r.t.Helper()
	path := filepath.Join(r.t.TempDir(), "proxy.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		r.t.Fatal(err)
	}
	p.serve(r, listener, manager)
	return "unix://" + path
}

// certificates are those of an engine that asks its clients for theirs.
type certificates struct {
	folder string // ca.pem, and a client's cert.pem and key.pem
	server *tls.Config
}

func makeCertificates(t *testing.T, addresses ...string) certificates {
	t.Helper()
	folder := t.TempDir()
	authority := &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caPair, ca := sign(t, authority, nil)
	server := &x509.Certificate{Subject: pkix.Name{CommonName: "manager"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, address := range addresses {
		server.IPAddresses = append(server.IPAddresses, net.ParseIP(address))
	}
	serverPair, _ := sign(t, server, &caPair)
	client, _ := sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "operator"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, &caPair)
	key, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem": {Type: "CERTIFICATE", Bytes: ca.Raw}, "cert.pem": {Type: "CERTIFICATE", Bytes: client.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	return certificates{folder, &tls.Config{Certificates: []tls.Certificate{serverPair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}}
}

// sign makes a key and a certificate for it, signed by an authority or by itself.
func sign(t *testing.T, template *x509.Certificate, by *tls.Certificate) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, any(key)
	if by != nil {
		parent, signer = by.Leaf, by.PrivateKey
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}, leaf
}
