// Command demo is what the testbed's tasks run: an HTTP server that can hold memory, end on its own, or refuse to end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run is main with the exit code as a value.
func run(args []string) int {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	listen := flags.String("listen", ":8080", "address of the HTTP server")
	megabytes := flags.Int("mb", 0, "MiB of memory to hold")
	exitAfter := flags.Duration("exit-after", 0, "end after this long (0: never)")
	exitCode := flags.Int("exit-code", 0, "exit code of -exit-after")
	ignoreTerm := flags.Bool("ignore-sigterm", false, "go on after SIGTERM, until SIGKILL")
	check := flags.String("check", "", "ask this URL and exit 0 if it answers 200, as a health check does")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *check != "" {
		return ask(*check)
	}

	held := hold(*megabytes)
	defer runtime.KeepAlive(held)
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(*listen, hello(len(held))) }()
	log.Printf("serving on %s, holding %d MiB", *listen, *megabytes)

	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM, syscall.SIGINT)
	if *ignoreTerm {
		signal.Ignore(syscall.SIGTERM)
	}
	var end <-chan time.Time
	if *exitAfter > 0 {
		end = time.After(*exitAfter)
	}
	select {
	case err := <-failed:
		log.Print(err)
		return 1
	case <-terminate:
		return 0
	case <-end:
		log.Printf("ending with %d", *exitCode)
		return *exitCode
	}
}

// hold returns memory of that many MiB, every page of it touched.
func hold(megabytes int) []byte {
	held := make([]byte, megabytes<<20)
	for i := 0; i < len(held); i += os.Getpagesize() {
		held[i] = 1
	}
	return held
}

// hello answers with the host's name and the bytes held.
func hello(held int) http.HandlerFunc {
	hostname, _ := os.Hostname()
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%s holds %d bytes\n", hostname, held)
	}
}

func ask(url string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		log.Print(err)
		return 2
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Print(err)
		return 1
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Print(response.Status)
		return 1
	}
	return 0
}
