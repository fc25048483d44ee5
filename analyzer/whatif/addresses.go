package whatif

import (
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// ofEveryNode are the networks that take no address of a subnet of the swarm's.
var ofEveryNode = []string{"host", "bridge", "none"}

// addresses tells for how many tasks of a service a network may lack an address. How many a subnet has left is not in the
// state; where tasks wait for the allocator now (manager/allocator), more than those that have an address may get none. Of
// another network that more tasks are to be on than before, it is only noted.
func (r *rehearsal) addresses(s *api.Service) (lacking int) {
	after := 0
	for t := range r.state.TasksOf(s.ID) {
		after += counted(t)
	}
	was := r.before.Service(s.ID)
	for _, n := range networksOf(s) {
		network := r.before.Network(n.Target) // of one that would be made something is said already
		if network == nil || slices.Contains(ofEveryNode, network.Spec.Annotations.Name) {
			continue
		}
		before, allocated := 0, 0
		if was != nil && slices.ContainsFunc(networksOf(was), func(o *api.NetworkAttachmentConfig) bool { return o.Target == n.Target }) {
			for t := range r.before.TasksOf(s.ID) {
				before += counted(t)
				if t.Status.State > api.TaskStateNew {
					allocated += counted(t)
				}
			}
		}
		more := after - before
		if r.waitForAddress(n.Target) {
			more = after - allocated
			lacking = max(lacking, more)
		}
		if more > 0 {
			r.note(fmt.Sprintf("whether network %s has addresses left for %d more of %s", network.Spec.Annotations.Name, more, s.Spec.Annotations.Name))
		}
	}
	return lacking
}

// counted is 1 for a task that is to run.
func counted(t *api.Task) int {
	if analyzer.IsToRun(t) {
		return 1
	}
	return 0
}

// waitForAddress tells whether tasks on a network wait for the allocator before the change.
func (r *rehearsal) waitForAddress(network string) bool {
	for s := range r.before.Services() {
		if !slices.ContainsFunc(networksOf(s), func(n *api.NetworkAttachmentConfig) bool { return n.Target == network }) {
			continue
		}
		for t := range r.before.TasksOf(s.ID) {
			if t.Status.State == api.TaskStateNew && analyzer.IsToRun(t) {
				return true
			}
		}
	}
	return false
}

// networksOf are those that the tasks of a service are on; services of old have them in their own part of the spec.
func networksOf(s *api.Service) []*api.NetworkAttachmentConfig {
	if len(s.Spec.Task.Networks) > 0 {
		return s.Spec.Task.Networks
	}
	return s.Spec.Networks
}
