package analyzer

import "github.com/moby/swarmkit/v2/api"

// Joining returns the node that joins next to one that it is like: ready and active, with the other's resources, platform,
// plugins and labels. It is a worker whatever the other is: a node becomes a manager by more than being there, and what an
// autoscaler adds does not. Its id and hostname are the name; it has no address.
func Joining(like *api.Node, name string) *api.Node {
	n := like.Copy()
	n.ID, n.Role, n.Spec.DesiredRole = name, api.NodeRoleWorker, api.NodeRoleWorker
	n.ManagerStatus, n.Attachments, n.Attachment = nil, nil, nil
	n.Status, n.Spec.Availability = api.NodeStatus{State: api.NodeStatus_READY}, api.NodeAvailabilityActive
	if n.Description == nil {
		n.Description = &api.NodeDescription{}
	}
	n.Description.Hostname = name
	return n
}
