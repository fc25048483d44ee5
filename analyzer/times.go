package analyzer

import (
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
)

// at reads a timestamp; the zero time where there is none.
func at(stamp *gogotypes.Timestamp) time.Time {
	if stamp == nil {
		return time.Time{}
	}
	t, err := gogotypes.TimestampFromProto(stamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// duration reads a duration, or else the default; zero where there is neither.
func duration(set, otherwise *gogotypes.Duration) time.Duration {
	for _, d := range []*gogotypes.Duration{set, otherwise} {
		if d == nil {
			continue
		}
		if value, err := gogotypes.DurationFromProto(d); err == nil {
			return value
		}
	}
	return 0
}

// created is when a manager made the task.
func created(t *api.Task) time.Time { return at(t.Meta.CreatedAt) }

// entered is when the task came into its state: by the manager's clock where the source tells, else by the agent's.
// Of a pending task it is no measure, since it moves whenever the text of the error does.
func entered(t *api.Task) time.Time {
	if applied := at(t.Status.AppliedAt); !applied.IsZero() {
		return applied
	}
	return at(t.Status.Timestamp)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
