package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// An answer comes within this time and is no larger, or it is none.
const (
	answerTime  = time.Second
	answerLimit = 64 << 10
)

// NewClient returns a client for asking other agents: straight to their addresses, whatever HTTP_PROXY says, and no further.
func NewClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 1,
			MaxConnsPerHost:     1,
			IdleConnTimeout:     time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Ask asks the agent at host and port what it is, ready or not; it waits a second at most.
func Ask(ctx context.Context, client *http.Client, addr string) (Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return Standing{}, fmt.Errorf("ask agent at %s: %w", addr, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return Standing{}, fmt.Errorf("ask agent at %s: %w", addr, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerLimit))
	if err != nil {
		return Standing{}, fmt.Errorf("read answer of agent at %s: %w", addr, err)
	}
	var standing Standing
	if err := json.Unmarshal(body, &standing); err != nil {
		return Standing{}, fmt.Errorf("read answer of agent at %s: %w", addr, err)
	}
	return standing, nil
}
