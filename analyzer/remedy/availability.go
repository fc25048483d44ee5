package remedy

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.Ready, activate)

// activate takes paused and drained nodes back. What is down or silent can only be mended on the node.
func activate(s *subject, g *group, _ filters.Reason) []proposal {
	var all []proposal
	for _, row := range g.nearest() {
		n, id := row.Node, row.Node.ID
		was := map[api.NodeSpec_Availability]string{api.NodeAvailabilityPause: "paused", api.NodeAvailabilityDrain: "drained"}[n.Spec.Availability]
		if n.Status.State != api.NodeStatus_READY {
			p := proposal{
				commands: []command{{verb: "systemctl start docker"}}, at: n.Name,
				note: fmt.Sprintf("%s does not answer the managers: its engine has to run, and to reach one of them on port 2377", n.Name),
			}
			if was != "" {
				p.note += fmt.Sprintf("; it is %s, too: docker node update --availability active %s", was, n.Ref())
			}
			all = append(all, p)
			continue
		}
		p := proposal{
			commands: []command{updateNode(n, "--availability active")},
			change:   func(d *Draft) { d.Node(id).Spec.Availability = api.NodeAvailabilityActive },
			note:     fmt.Sprintf("somebody has %s %s: see that it may take tasks again", was, n.Name),
		}
		if until, is := n.Spec.Annotations.Labels[labelMaintenance]; is {
			p.note += ", it is marked as under maintenance until " + until
		}
		all = append(all, p)
	}
	return all
}
