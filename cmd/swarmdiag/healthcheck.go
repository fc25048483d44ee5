package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	healthTime  = 5 * time.Second
	healthReply = 4 << 10 // bytes
)

func newHealthcheck() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:     "healthcheck",
		Short:   "Ask the agent in this container whether it is well; for the image's HEALTHCHECK",
		Example: "  swarmdiag healthcheck\n  swarmdiag healthcheck --listen 127.0.0.1:9797",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, port, err := net.SplitHostPort(listen)
			if err != nil {
				return fmt.Errorf("address of the agent: %w", err)
			}
			if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
				host = "127.0.0.1"
			}
			return checkHealth(cmd.Context(), "http://"+net.JoinHostPort(host, port)+"/healthz", cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "the address that the agent listens on")
	return cmd
}

func checkHealth(ctx context.Context, url string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("address of the agent: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the agent: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, healthReply))
	if err != nil {
		return fmt.Errorf("read the agent's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the agent is not well: %s", strings.TrimSpace(string(text)))
	}
	_, err = fmt.Fprintln(out, strings.TrimSpace(string(text)))
	return err
}
