//go:build live

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// pollInterval is the default one.
const pollInterval = 5 * time.Second

// polling runs an agent that has nothing but an Engine API without events, and holds it against those that watch.
func (r *rig) polling() {
	proxy := engineProxy{Refuses: "/events"}
	agent := r.startAgent([]string{"DOCKER_HOST=" + r.socketProxy(&proxy), "SWARMDIAG_CONTROL_SOCKET=none"}, "--poll-interval", pollInterval.String())
	r.eventually(30*time.Second, func() error {
		if len(eventsIn(agent.written())) == 0 {
			return errors.New("the agent does not speak:\n" + agent.written())
		}
		return nil
	})
	r.sh("docker service create -d --no-resolve-image --name late --constraint node.labels.zone==moon demo:1")
	defer r.sh("docker service rm late")
	r.eventually(30*time.Second, func() error {
		if len(of(eventsIn(agent.written()), "stuck", "late")) == 0 {
			return errors.New("no stuck line for late:\n" + agent.written())
		}
		return nil
	})
	line := of(eventsIn(agent.written()), "stuck", "late")[0]
	if late := line.Time.Sub(line.Diagnosis.Since.Add(threshold)); late < 0 || late > pollInterval+promptly {
		r.t.Errorf("the line came %s after the threshold", late)
	}
	r.eventually(30*time.Second, func() error {
		if len(of(r.events(), "stuck", "late")) == 0 {
			return errors.New("the agents that watch do not call late stuck")
		}
		return nil
	})
	address, err := agent.address()
	if err != nil {
		r.t.Fatal(err)
	}
	r.eventually(2*time.Minute, func() error { // each finds remedies again only half a minute after tasks moved
		polled := r.diagnoses(ask(r.t, new(http.Client), address, "/v1/diagnoses", ""))
		watched := r.diagnoses(r.fromBridge(manager, "/v1/diagnoses", token))
		if polled.Cluster.Source != "engine" || watched.Cluster.Source != "watch" {
			return fmt.Errorf("the sources are %s and %s", polled.Cluster.Source, watched.Cluster.Source)
		}
		if diff := r.difference(comparable(watched), comparable(polled)); diff != "" {
			return fmt.Errorf("polled: other diagnoses (-want +got):\n%s", diff)
		}
		return nil
	})
	if err := agent.stop(); err != nil {
		r.t.Errorf("told to end, the agent exits with: %v", err)
	}
	proxy.onlyRead(r.t)
}

// versions are all objects of the cluster with the number that grows whenever one is written.
const versions = `
docker info -f 'cluster {{.Swarm.Cluster.Version.Index}}'
docker node ls -q | xargs docker node inspect -f 'node {{.ID}} {{.Version.Index}}'
docker service ls -q | xargs docker service inspect -f 'service {{.ID}} {{.Version.Index}}'
{ docker service ls -q | xargs docker service ps -q --no-trunc
} | sort | xargs docker inspect --type task -f 'task {{.ID}} {{.Version.Index}}'
docker network ls --filter scope=swarm -q --no-trunc | sort | xargs docker network inspect -f 'network {{.ID}} {{.Created}} {{json .IPAM}} {{json .Options}} {{json .Labels}}'
docker secret ls -q | sort | xargs -r docker secret inspect -f 'secret {{.ID}} {{.Version.Index}}'
docker config ls -q | sort | xargs -r docker config inspect -f 'config {{.ID}} {{.Version.Index}}'`

// nothingIsWritten compares all versions before and after a while in which everything looks that there is: the agents of the
// service watch, another one polls, and commands are run.
func (r *rig) nothingIsWritten() {
	const while = 10 * time.Second
	socket, err := r.ControlSocket(manager)
	if err != nil {
		r.t.Fatal(err)
	}
	var proxy engineProxy
	address := r.socketProxy(&proxy)
	r.eventually(time.Minute, r.quiet())
	before := r.sh(versions)
	agent := r.startAgent([]string{"DOCKER_HOST=" + address}, "--control-socket", "none", "--poll-interval", "1s")
	for started := time.Now(); time.Since(started) < while; {
		for _, from := range []string{"docker -H " + address + " swarmdiag %s", "swarmdiag %s --control-socket " + socket} {
			for _, command := range []string{"why --format json", "nodes", "snapshot"} {
				r.sh(strings.Replace(from, "%s", command, 1) + " >/dev/null || [ $? = 2 ]")
			}
		}
	}
	if err := agent.stop(); err != nil {
		r.t.Errorf("told to end, the agent exits with: %v", err)
	}
	if stuck := stuckIn(agent.written()); len(stuck) != 2 {
		r.t.Errorf("the agent called stuck %q", stuck)
	}
	if diff := gocmp.Diff(strings.Split(before, "\n"), strings.Split(r.sh(versions), "\n")); diff != "" {
		r.t.Errorf("something was written meanwhile:\n%s", diff)
	}
	proxy.onlyRead(r.t)
}

// quiet tells whether the cluster has stayed as it was at the last call.
func (r *rig) quiet() func() error {
	last := ""
	return func() error {
		now := r.sh(versions)
		if now != last {
			last = now
			return errors.New("the cluster still changes")
		}
		return nil
	}
}
