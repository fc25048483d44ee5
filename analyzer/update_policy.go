package analyzer

import (
	"github.com/moby/swarmkit/v2/api"
)

// UpdatePolicy is what the updater goes by: how the service's rollbacks are done where one is under way, else how its
// updates are (manager/orchestrator/update.Updater.Run). It is nil for no service, and where nothing is set.
func UpdatePolicy(s *api.Service) *api.UpdateConfig {
	switch {
	case s == nil:
		return nil
	case s.UpdateStatus != nil && s.UpdateStatus.State == api.UpdateStatus_ROLLBACK_STARTED:
		return s.Spec.Rollback
	}
	return s.Spec.Update
}

// IsStartFirst tells whether the service's tasks are replaced by starting a new one before the old one ends, by its
// UpdatePolicy; false for no service.
func IsStartFirst(s *api.Service) bool {
	policy := UpdatePolicy(s)
	return policy != nil && policy.Order == api.UpdateConfig_START_FIRST
}

// Parallelism is how many of so many slots are worked on at once, by the service's UpdatePolicy: all where it is 0, one where
// nothing is set (api/defaults.Service).
func Parallelism(s *api.Service, slots int) int {
	policy := UpdatePolicy(s)
	switch {
	case policy == nil:
		return min(1, slots)
	case policy.Parallelism == 0:
		return slots
	}
	return int(min(policy.Parallelism, uint64(slots)))
}
