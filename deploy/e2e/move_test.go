//go:build live

package e2e

import (
	"slices"
	"strings"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// movedTask makes a task that would fit if one that runs were elsewhere. Swarm moves nothing by itself; the remedy moves that one
// task, and leaves its service as it was.
func (r *rig) movedTask() {
	const service, mover = "wide", "seat"
	r.sh("for node in node-3 node-4; do docker node update --label-add half=yes $node; done")
	r.sh("docker service create -d --no-resolve-image --name " + mover + " --replicas 2 --reserve-cpu 0.25 --constraint node.labels.half==yes demo:1")
	r.eventually(time.Minute, func() error { return r.running(mover) })
	asMade := r.sh("docker service inspect -f '{{json .Spec.TaskTemplate.Placement.Constraints}}' " + mover)
	r.sh("docker service create -d --no-resolve-image --name " + service + " --reserve-cpu 0.4 --constraint node.labels.half==yes demo:1")
	d := r.isFound(fault{service: service, cause: "insufficient-cpu", shape: "fragmented"})
	proven := provenOf(d)
	i := slices.IndexFunc(proven, func(remedy analyzer.Remedy) bool { return strings.Contains(remedy.Command, "node.id!=") })
	if i < 0 {
		r.t.Fatalf("no move is offered: %+v", proven)
	}
	before := r.tasks(mover)
	if ended := r.does(d, proven[i]); len(ended) > 0 {
		r.t.Errorf("%s: only a task of %s should move, and these ended: %v", proven[i].Command, mover, ended)
	}
	r.eventually(time.Minute, func() error { return r.running(mover) })
	if moved := without(before, r.tasks(mover)); len(moved) != 1 || proven[i].Restarts != 1 {
		r.t.Errorf("%s restarts %d, and these moved: %v", proven[i].Command, proven[i].Restarts, moved)
	}
	if now := r.sh("docker service inspect -f '{{json .Spec.TaskTemplate.Placement.Constraints}}' " + mover); now != asMade {
		r.t.Errorf("the constraints of %s are %s, and were %s", mover, now, asMade)
	}
	r.sh("docker service rm " + service + " " + mover)
	r.sh("for node in node-3 node-4; do docker node update --label-rm half $node; done")
}
