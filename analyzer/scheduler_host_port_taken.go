package analyzer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "host-port-taken",
	Component: Scheduler,
	Title:     "the host-mode port is held on every eligible node",
	Infers:    []string{"task.endpoint"},
	Doc: `A port that is published in host mode can be taken once on a node. On every eligible node a task holds it, or, on those where it is
free, another filter refuses. A task holds its port until it has ended; with update order start-first the old task of the same
service holds it until the new one runs, which then never happens.

Publish another port, remove or move the holder, or use update order stop-first.`,
	Rejects: rejectedBy(filters.HostPort),
	Reads:   Holdings,
	Explain: explainHostPort,
	Why:     whyHostPort,
})

func explainHostPort(w *Waiting, _ filters.Reason) Finding {
	finding := Finding{Evidence: []Evidence{}}
	var held []string
	for port := range filters.HostPorts(w.Task()) {
		var tasks []*api.Task
		evidence := Evidence{What: "host-port", Wanted: portName(port)}
		for _, row := range w.Eligible {
			for _, t := range row.Node.PortHolders(w.Task(), port) {
				if tasks = append(tasks, t); len(tasks) <= most {
					evidence.Holders = append(evidence.Holders, Holder{Service: serviceName(w.Pass, t), Task: t.ID, Node: row.Node.Name, Amount: 1, Stopping: !isLive(t)})
				}
			}
		}
		if len(tasks) == 0 {
			continue
		}
		held = append(held, portName(port)+" is held by "+portHolders(w, tasks))
		isOwn := func(t *api.Task) bool { return t.ServiceID == w.Task().ServiceID }
		if slices.ContainsFunc(tasks, isOwn) && IsStartFirst(w.Service) {
			evidence.Hint = "the holder is the service's own old task, which stops only after the new one runs (update order start-first)"
			held[len(held)-1] += "; " + evidence.Hint
		}
		finding.Check = append(finding.Check, portCheck(w, port, evidence.Holders[0]))
		finding.Evidence = append(finding.Evidence, evidence)
	}
	where := "on every eligible node"
	if holding := len(w.Eligible) - len(filters.Without(w.Eligible, filters.HostPort)); holding < len(w.Eligible) {
		where = fmt.Sprintf("on %d of %s, and other filters refuse the rest", holding, count(len(w.Eligible), "eligible node"))
	}
	finding.Summary = fmt.Sprintf("publishes a port in host mode that is taken %s: %s", where, strings.Join(held, "; "))
	return finding
}

// portHolders names each service that holds a port and its nodes: "web on node-1, node-2 and api on node-3".
func portHolders(w *Waiting, tasks []*api.Task) string {
	var services []string
	names, nodes, late := map[string]string{}, map[string][]string{}, map[string]string{}
	for _, t := range tasks {
		id := cmp.Or(t.ServiceID, t.ID)
		if names[id] == "" {
			names[id] = serviceName(w.Pass, t)
		}
		name := names[id]
		if nodes[name] == nil {
			services = append(services, name)
		}
		nodes[name] = append(nodes[name], w.Pass.Cluster.Node(t.NodeID).Name)
		late[name] = cmp.Or(late[name], w.Pass.stopNote(t))
	}
	var each []string
	for _, name := range services {
		each = append(each, fmt.Sprintf("%s on %s%s", name, list(nodes[name]), late[name]))
	}
	return strings.Join(each[:min(len(each), most)], " and ")
}

func portName(p *api.PortConfig) string {
	return fmt.Sprintf("%d/%s", p.PublishedPort, strings.ToLower(p.Protocol.String()))
}

// portCheck shows the ports of the service that holds the port; where that is removed, that its task has not ended.
func portCheck(w *Waiting, port *api.PortConfig, holder Holder) Check {
	t := w.Pass.State.Task(holder.Task)
	s := w.Pass.State.Service(t.ServiceID)
	if s == nil {
		return taskCheck(t)
	}
	shows := []string{portName(port) + " host"}
	if s.Endpoint != nil {
		shows = nil
		for _, p := range s.Endpoint.Ports {
			shows = append(shows, portName(p)+" "+strings.ToLower(p.PublishMode.String()))
		}
	}
	return Check{
		Command: "docker service inspect -f '{{range .Endpoint.Ports}}{{.PublishedPort}}/{{.Protocol}} {{.PublishMode}} {{end}}' " + quote(holder.Service),
		Shows:   strings.Join(shows, " "),
	}
}

func whyHostPort(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	return whyEach(rows, func(row filters.Row) []string {
		var why []string
		for port := range filters.HostPorts(w.Task()) {
			for _, t := range row.Node.PortHolders(w.Task(), port) {
				why = append(why, fmt.Sprintf("%s: %s is held by %s (task %s)", row.Node.Name, portName(port), serviceName(w.Pass, t), t.ID))
			}
		}
		return why
	})
}
