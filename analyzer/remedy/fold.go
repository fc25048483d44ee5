package remedy

import (
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// folded is a cluster as the scheduler sees it, with as few tasks as decide the same. Of each node only what is left of
// its resources is there, so that no task has to reserve them.
type folded struct {
	nodes []*api.Node
	tasks []*api.Task
}

// fold makes a small cluster for the tasks that are to be placed. What decides (manager/scheduler): what is available on
// each of the nodes, which host ports that the tasks ask for are taken there, the cluster volumes in use, how many tasks of
// the services in question are active on it, and, where these tie, how many tasks in all compared with the other nodes that
// take some of them.
func fold(cluster *filters.Cluster, nodes, take []*filters.Node, waiting []*api.Task) *folded {
	f := &folded{}
	services := servicesOf(waiting)
	others := otherTasks(take, services, len(waiting))
	asked := portsAsked(waiting)
	for _, n := range nodes {
		f.nodes = append(f.nodes, reduced(n))
		for _, service := range services {
			f.add(n.ID, service, n.ActiveTasks(service))
		}
		f.add(n.ID, "", others[n.ID])
		if ports := taken(n, asked); len(ports) > 0 {
			f.tasks = append(f.tasks, holder(n.ID+" ports", n.ID, ports))
		}
	}
	for _, t := range cluster.VolumeUsers() {
		user := holder(t.ID, t.NodeID, nil)
		user.Volumes, user.Spec.Runtime = t.Volumes, t.Spec.Runtime
		f.tasks = append(f.tasks, user)
	}
	return f
}

// port is what two tasks cannot hold on one node.
type port struct {
	protocol api.PortConfig_Protocol
	number   uint32
}

func portsAsked(tasks []*api.Task) map[port]bool {
	asked := map[port]bool{}
	for _, t := range tasks {
		for p := range filters.HostPorts(t) {
			asked[port{p.Protocol, p.PublishedPort}] = true
		}
	}
	return asked
}

// taken are those of the ports that tasks hold on a node.
func taken(n *filters.Node, asked map[port]bool) []*api.PortConfig {
	if len(asked) == 0 {
		return nil
	}
	return slices.DeleteFunc(n.TakenPorts(), func(p *api.PortConfig) bool { return !asked[port{p.Protocol, p.PublishedPort}] })
}

func servicesOf(tasks []*api.Task) []string {
	var services []string
	for _, t := range tasks {
		if !slices.Contains(services, t.ServiceID) {
			services = append(services, t.ServiceID)
		}
	}
	return services
}

// reduced is the node with what is left of its resources for all that it has.
func reduced(n *filters.Node) *api.Node {
	node := *n.Node
	description := api.NodeDescription{}
	if n.Description != nil {
		description = *n.Description
	}
	description.Resources = n.Available()
	if n.Description != nil || !isNothing(description.Resources) {
		node.Description = &description
	}
	return &node
}

func isNothing(r *api.Resources) bool {
	return r.MemoryBytes == 0 && r.NanoCPUs == 0 && len(r.Generic) == 0
}

// add puts tasks on a node that count there and take nothing.
func (f *folded) add(node, service string, number int) {
	for i := range number {
		f.tasks = append(f.tasks, &api.Task{
			ID: fmt.Sprintf("%s %s %d", node, service, i), ServiceID: service, NodeID: node,
			Status: api.TaskStatus{State: api.TaskStateRunning}, DesiredState: api.TaskStateRunning,
		})
	}
}

// holder is a task that holds something and counts for nothing else: it is to end, and has not yet.
func holder(id, node string, ports []*api.PortConfig) *api.Task {
	return &api.Task{
		ID: id, NodeID: node, Endpoint: &api.Endpoint{Ports: ports},
		Status: api.TaskStatus{State: api.TaskStateRunning}, DesiredState: api.TaskStateShutdown,
	}
}

// otherTasks tells how many tasks of other services each node needs to compare with the others as it does now. Only
// differences up to what the services in question have and get can matter; larger ones are cut to that.
func otherTasks(nodes []*filters.Node, services []string, placed int) map[string]int {
	counts, most := map[string]int{}, 0
	var steps []int
	for _, n := range nodes {
		own := 0
		for _, service := range services {
			own += n.ActiveTasks(service)
		}
		most = max(most, own)
		counts[n.ID] = n.Active() - own
		steps = append(steps, counts[n.ID])
	}
	slices.Sort(steps)
	steps = slices.Compact(steps)
	cut, sum := map[int]int{}, 0
	for i, count := range steps {
		if i > 0 {
			sum += min(count-steps[i-1], placed+most+1)
		}
		cut[count] = sum
	}
	for id, count := range counts {
		counts[id] = cut[count]
	}
	return counts
}
