//go:build live

package e2e

import (
	"slices"
	"strings"
	"time"
)

// forgottenTask makes a task that fits and at which the scheduler does not look again. Of a service with a limit of replicas per
// node, an update that starts first has room for one new task. Once that runs, an old one is to stop, and counts no more; but that
// is no change for which the scheduler looks at what waits (manager/scheduler.Scheduler.updateTask), and the old one takes its
// time. The nudge ends nothing; the update goes on with it, and has the other old task stop. Any other change of a node would place
// it, too: no node may be changing, as one does for seconds that was made a manager or a worker.
func (r *rig) forgottenTask() {
	const service = "turn"
	r.sh("docker service create -d --no-resolve-image --name " + service + " --replicas 2 --replicas-max-per-node 3 --constraint node.hostname==node-3" +
		" --update-order start-first --update-parallelism 2 --stop-grace-period 3m demo:1 --ignore-sigterm")
	r.eventually(time.Minute, func() error { return r.running(service) })
	old := r.tasks(service)
	r.sh("docker service update -d --env-add changed=yes " + service)
	d := r.isFound(fault{service: service, cause: "not-retried"})
	r.isRight(fault{cause: "not-retried", names: []string{"node-3", "max replicas per node limit exceed"}}, d)
	const nudge = "docker node update --label-add 'swarmdiag.nudge=1' node-3 && docker node update --label-rm swarmdiag.nudge node-3"
	if len(d.Remedies) == 0 || d.Remedies[0].Command != nudge {
		r.t.Fatalf("the nudge is not offered first: %+v", d.Remedies)
	}
	ended := r.does(d, d.Remedies[0])
	if others := without(ended, old); len(others) > 0 {
		r.t.Errorf("the nudge ends %v", others)
	}
	stopping := r.sh("docker service ps --filter desired-state=shutdown --format '{{.ID}} {{.CurrentState}}' " + service)
	if !slices.ContainsFunc(old, func(t task) bool { return strings.Contains(stopping, t.id[:12]+" Running") }) {
		r.t.Errorf("an old task ended before, which makes the scheduler look, too:\n%s", stopping)
	}
	if labels := r.sh("docker node inspect -f '{{json .Spec.Labels}}' node-3"); strings.Contains(labels, "nudge") {
		r.t.Errorf("the node is not as it was: %s", labels)
	}
	r.sh("docker service rm " + service)
}
