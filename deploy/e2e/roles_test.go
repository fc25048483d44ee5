//go:build live

package e2e

import (
	"fmt"
	"strings"
	"time"
)

// roles has a node become a worker and a manager again for tasks that ask for that, by the remedies as they are printed. While
// there are two managers none is to be demoted: one alone is no majority of two.
func (r *rig) roles() {
	const node = "node-3"
	bound := func(service, role string) fault {
		f := constrained(service, "node.role=="+role, "")
		f.create += " --constraint node.hostname==" + node
		return f
	}
	worker, majority, manager := bound("as-worker", "worker"), bound("keeps-majority", "worker"), bound("as-manager", "manager")
	majority.create = strings.ReplaceAll(majority.create, node, "node-2")

	r.changesRole(worker, "docker node demote "+node)
	r.make(majority)
	for _, remedy := range r.isFound(majority).Remedies {
		if strings.Contains(remedy.Command, "demote") {
			r.t.Errorf("of two managers one is to be demoted: %s", remedy.Command)
		}
	}
	r.sh("docker service rm " + majority.service)
	r.sh("docker service rm " + worker.service)
	r.changesRole(manager, "docker node promote "+node)
	r.eventually(time.Minute, func() error {
		if is := r.docker(1, "node", "inspect", "-f", "{{with .ManagerStatus}}{{.Reachability}}{{end}}", node); is != "reachable" {
			return fmt.Errorf("manager %s is %q", node, is)
		}
		return nil
	})
	r.sh("docker service rm " + manager.service)
}

// changesRole makes a fault, holds it against what is said, and runs the remedy.
func (r *rig) changesRole(f fault, command string) {
	r.make(f)
	r.eventually(time.Minute, func() error { return r.allSaid("stuck", []fault{f}) })
	r.isNamed(f, r.events())
	d := r.isFound(f)
	proven := provenOf(d)
	if len(proven) == 0 || proven[0].Command != command {
		r.t.Fatalf("want %s, not %+v", command, d.Remedies)
	}
	r.t.Logf("docker says %q; note: %s", d.DockerSays, proven[0].Note)
	r.comesTrue(d, proven[0])
	r.eventually(time.Minute, func() error { return r.allSaid("resolved", []fault{f}) })
}
