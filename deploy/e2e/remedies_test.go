//go:build live

package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// healByRemedy runs the first remedy as it is printed and sees as many tasks run as it says. What no copy can show is healed
// as the fault was made, and so is what a remedy took room for, which the next ones need.
func (r *rig) healByRemedy(f fault) {
	result, _ := r.why(f.service)
	if len(result.Diagnoses) != 1 || result.Diagnoses[0].Remedies == nil {
		r.t.Fatalf("why finds %s, and remedies %v", causes(result), result.Diagnoses)
	}
	d := result.Diagnoses[0]
	var proven []analyzer.Remedy
	for _, remedy := range d.Remedies {
		if remedy.Verified {
			proven = append(proven, remedy)
		}
	}
	switch {
	case f.unproven && len(proven) > 0:
		r.t.Errorf("no copy can show this: %+v", proven)
	case !f.unproven && len(proven) == 0:
		r.t.Errorf("no remedy is proven: %+v", d.Remedies)
	case len(proven) > 0:
		r.does(f.service, d, proven[0])
	}
	if f.healByAPI != nil {
		f.healByAPI()
	} else if out, err := r.try(f.heal); err != nil {
		r.t.Logf("already otherwise: %s", out)
	}
	r.eventually(time.Minute, func() error { return r.running(f.service) })
}

// does runs a remedy and sees what it says come true.
func (r *rig) does(service string, d analyzer.Diagnosis, remedy analyzer.Remedy) {
	r.t.Logf("$ %s: places %d on %s", remedy.Command, remedy.Places, strings.Join(remedy.On, ", "))
	r.sh(remedy.Command)
	r.eventually(time.Minute, func() error {
		running := r.docker(1, "service", "ps", "--filter", "desired-state=running", "--format", "{{.CurrentState}}", service)
		if n := strings.Count(running, "Running"); n < d.Running+remedy.Places {
			return fmt.Errorf("%d tasks of %s run, %d ran and the remedy places %d:\n%s", n, service, d.Running, remedy.Places, running)
		}
		return nil
	})
}

// staleTask updates a label of a service whose task waits. The next time that the scheduler finds no node for that task, it
// gives it up, and looks at it no more, whatever becomes free. The remedy that is printed makes one that it looks at.
func (r *rig) staleTask() {
	const service = "stale"
	r.sh("docker service create -d --no-resolve-image --name " + service + " --constraint node.labels.stale==no demo:1")
	r.eventually(time.Minute, func() error {
		if len(of(r.events(), "stuck", service)) == 0 {
			return fmt.Errorf("%s is not said to be stuck", service)
		}
		return nil
	})
	r.sh("docker service update -d --label-add changed=yes " + service)
	r.sh("docker service create -d --no-resolve-image --name after demo:1") // when this one runs, the scheduler has looked
	r.eventually(time.Minute, func() error { return r.running("after") })
	r.sh("docker service rm after")
	r.sh("docker node update --label-add stale=no node-3")
	var line event
	r.eventually(time.Minute, func() error {
		changed := of(r.events(), "changed", service)
		if len(changed) == 0 {
			return fmt.Errorf("the log does not say that the cause of %s changed", service)
		}
		line = changed[len(changed)-1]
		return nil
	})
	r.isRight(fault{cause: "not-retried", shape: "stale-spec", names: []string{"node-3"}}, *line.Diagnosis)
	socket, err := r.ControlSocket(1)
	if err != nil {
		r.t.Fatal(err)
	}
	result, _ := r.result("swarmdiag why --format json --control-socket " + socket + " " + service)
	if len(result.Diagnoses) != 1 || len(result.Diagnoses[0].Remedies) == 0 || !result.Diagnoses[0].Remedies[0].Verified {
		r.t.Fatalf("why finds %s, and remedies %+v", causes(result), result.Diagnoses)
	}
	r.does(service, result.Diagnoses[0], result.Diagnoses[0].Remedies[0])
	r.sh("docker service rm " + service)
	r.sh("docker node update --label-rm stale node-3")
}
