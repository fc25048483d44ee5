package analyzer

import (
	"github.com/moby/swarmkit/v2/api"
)

// IsStartFirst tells whether the service's updates start a new task before they end the old one; false for no service.
func IsStartFirst(s *api.Service) bool {
	return s != nil && s.Spec.Update != nil && s.Spec.Update.Order == api.UpdateConfig_START_FIRST
}

// Parallelism is how many of so many slots an update of the service works on at once: all where it is 0, one where nothing
// is set (api/defaults.Service).
func Parallelism(s *api.Service, slots int) int {
	switch {
	case s == nil || s.Spec.Update == nil:
		return min(1, slots)
	case s.Spec.Update.Parallelism == 0:
		return slots
	}
	return int(min(s.Spec.Update.Parallelism, uint64(slots)))
}
