package exporter

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/net/netutil"
)

// Bounds of a listener.
const (
	headerTime     = 5 * time.Second
	requestTime    = 10 * time.Second
	responseTime   = 30 * time.Second
	idleTime       = time.Minute
	headerBytes    = 16 << 10
	connections    = 256
	shutdownWithin = 5 * time.Second
)

// Serve answers on a listener until ctx ends; then it lets the requests under way finish, for five seconds at most, and
// returns nil. It closes the listener.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, entry *logrus.Entry) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		WriteTimeout:      responseTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          log.New(complaints{entry}, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(netutil.LimitListener(listener, connections)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
	defer cancel()
	err := server.Shutdown(grace)
	if err != nil {
		err = errors.Join(fmt.Errorf("shut down %s: %w", listener.Addr(), err), server.Close())
	}
	<-ended
	return err
}

// complaints are what net/http has to say: a handler that panicked, a listener that does not accept.
type complaints struct{ *logrus.Entry }

func (c complaints) Write(text []byte) (int, error) {
	c.WithField("reason", strings.TrimSpace(string(text))).Warn("http server complains")
	return len(text), nil
}
