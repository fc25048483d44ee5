package whatif

import "github.com/moby/swarmkit/v2/api"

// Change is what a command would have the managers do.
type Change struct {
	Services []ServiceChange
	// Removed are the ids of services that end.
	Removed []string
	// Nodes are nodes as they would be; one whose id the state does not know is added.
	Nodes []*api.Node
	// Networks are made first.
	Networks []*api.Network
	// Unchecked is what could not be looked at, a phrase each.
	Unchecked []string
}

// ServiceChange is a service that is made or updated.
type ServiceChange struct {
	ID   string
	Spec *api.ServiceSpec
	// JobStatus is that of a job.
	JobStatus *api.JobStatus
	New       bool
	// Rollback tells that the spec is the one before: the settings for rollbacks hold, not those for updates.
	Rollback bool
	// Restarts tells that every task is made anew, also where the change is in nothing that the state keeps.
	Restarts bool
}
