package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// role makes nodes that meet the other constraints managers or workers, where a constraint asks for that.
func (s *subject) role(g *group, f constraints.Finding) []proposal {
	wanted, asks := roleFor(f)
	if !asks {
		return nil
	}
	rows := slices.Clone(g.rows)
	slices.SortStableFunc(rows, func(a, b filters.Row) int { return cmp.Compare(leads(a.Node), leads(b.Node)) })
	var found []proposal
	for _, row := range rows {
		if len(found) == enough {
			break
		}
		if wanted == api.NodeRoleManager {
			found = append(found, s.promote(row.Node))
		} else if s.keepsMajority(row.Node) {
			found = append(found, demote(row.Node))
		}
	}
	return found
}

// roleFor is the role that a node has to have for a constraint.
func roleFor(f constraints.Finding) (role api.NodeRole, asks bool) {
	if !f.Key.Known() || !strings.EqualFold(f.Key.Text, "node.role") {
		return 0, false
	}
	isManager, isWorker := strings.EqualFold(f.Value, "manager"), strings.EqualFold(f.Value, "worker")
	switch {
	case f.Equal && isManager || !f.Equal && isWorker:
		return api.NodeRoleManager, true
	case f.Equal && isWorker || !f.Equal && isManager:
		return api.NodeRoleWorker, true
	}
	return 0, false
}

func leads(n *filters.Node) int {
	if n.ManagerStatus != nil && n.ManagerStatus.Leader {
		return 1
	}
	return 0
}

func setRole(n *api.Node, role api.NodeRole) { n.Role, n.Spec.DesiredRole = role, role }

func (s *subject) promote(n *filters.Node) proposal {
	id, managers := n.ID, 1
	for _, other := range s.cluster.Nodes() {
		if other.ManagerStatus != nil {
			managers++
		}
	}
	p := proposal{
		commands: []command{{verb: "docker node promote", object: n.Ref()}},
		change:   func(d *Draft) { setRole(d.Node(id), api.NodeRoleManager) },
		note:     fmt.Sprintf("it makes %s a manager, which has the keys of the whole swarm and counts for the majority", n.Name),
	}
	if managers%2 == 0 {
		p.note += fmt.Sprintf("; %d managers bear the loss of no more of them than %d do: an odd number is better", managers, managers-1)
	}
	return p
}

// keepsMajority tells whether the managers that can be reached are a majority without this one, too.
func (s *subject) keepsMajority(n *filters.Node) bool {
	managers, left := 0, 0
	for _, other := range s.cluster.Nodes() {
		if other.ManagerStatus == nil {
			continue
		}
		managers++
		if other.ID != n.ID && other.ManagerStatus.Reachability == api.RaftMemberStatus_REACHABLE {
			left++
		}
	}
	return left > managers/2
}

func demote(n *filters.Node) proposal {
	id := n.ID
	return proposal{
		commands: []command{{verb: "docker node demote", object: n.Ref()}},
		change:   func(d *Draft) { setRole(d.Node(id), api.NodeRoleWorker) },
		note:     fmt.Sprintf("%s is a manager no more: the swarm bears the loss of fewer", n.Name),
	}
}
