package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	healthy := httptest.NewServer(hello(0))
	t.Cleanup(healthy.Close)
	unhealthy := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(unhealthy.Close)
	for name, test := range map[string]struct {
		args []string
		want int
	}{
		"it ends with the code asked for":       {[]string{"-listen", "127.0.0.1:0", "-mb", "1", "-exit-after", "1ms", "-exit-code", "7"}, 7},
		"an address it cannot have":             {[]string{"-listen", healthy.Listener.Addr().String()}, 1},
		"a check of a server that answers":      {[]string{"-check", healthy.URL}, 0},
		"a check of a server that answers 404":  {[]string{"-check", unhealthy.URL}, 1},
		"a check of a server that is not there": {[]string{"-check", "http://127.0.0.1:1"}, 1},
		"an unknown flag":                       {[]string{"-nope"}, 2},
		"help":                                  {[]string{"-help"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := run(test.args); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}
