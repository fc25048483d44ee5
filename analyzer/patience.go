package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"
)

// Patience says how long a task may be in a state before it counts as stuck.
type Patience struct {
	thresholds map[string]time.Duration
	// ProvenAtOnce makes a cause that the state proves count however young the task is.
	ProvenAtOnce bool
	// LeastAges says that the time given as now may be long past: every age is the least that it can be. What is not as desired
	// then counts, since it may have been so for any time. A task that is to stop does not: its slot is as desired.
	LeastAges bool
}

// The states with a threshold. Stopping is a task that should end and does not, failing a slot whose tasks end with an error,
// none a slot without any task.
const (
	stateNone     = "none"
	stateStopping = "stopping"
	stateFailing  = "failing"
)

// States are the names that a threshold can be set for.
var states = []string{stateNone, "new", "pending", "assigned", "accepted", "preparing", "ready", "starting", stateStopping, stateFailing}

const (
	short = 10 * time.Second
	long  = time.Minute
	// labelThreshold and a state is the service label that sets a threshold for one service.
	labelThreshold = "swarmdiag.threshold."
)

// Set gives a state its own threshold, given as STATE=DURATION.
func (p *Patience) Set(assignment string) error {
	state, value, ok := strings.Cut(assignment, "=")
	if !ok {
		return fmt.Errorf("threshold %q: want STATE=DURATION, such as pending=30s", assignment)
	}
	if !slices.Contains(states, state) {
		return fmt.Errorf("threshold %q: the states are %s", assignment, strings.Join(states, ", "))
	}
	duration, err := time.ParseDuration(value)
	if err != nil || duration < 0 {
		return fmt.Errorf("threshold %q: want a duration of zero or more, such as 30s", assignment)
	}
	if p.thresholds == nil {
		p.thresholds = map[string]time.Duration{}
	}
	p.thresholds[state] = duration
	return nil
}

// wrongLabels tells which labels of the service set a threshold and cannot.
func wrongLabels(s *api.Service) []string {
	var wrong []string
	labels := s.Spec.Annotations.Labels
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		state, sets := strings.CutPrefix(label, labelThreshold)
		if !sets {
			continue
		}
		if err := new(Patience).Set(state + "=" + labels[label]); err != nil {
			wrong = append(wrong, fmt.Sprintf("label %s of service %s is not used: %v", label, s.Spec.Annotations.Name, err))
		}
	}
	return wrong
}

// threshold is how long a task of the service may be in the state: by the service's label, by what the operator set,
// or by the design's default.
func (p Patience) threshold(s *api.Service, t *api.Task, state string) time.Duration {
	if s != nil {
		if own, err := time.ParseDuration(s.Spec.Annotations.Labels[labelThreshold+state]); err == nil && own >= 0 {
			return own
		}
	}
	if set, ok := p.thresholds[state]; ok {
		return set
	}
	switch state {
	case "preparing":
		return long
	case "ready":
		return restartDelay(t) + long
	case "starting":
		return startTime(t)
	case stateStopping:
		return stopGrace(t) + short
	}
	return short
}

func restartDelay(t *api.Task) time.Duration {
	if t != nil && t.Spec.Restart != nil {
		return duration(t.Spec.Restart.Delay, defaults.Service.Task.Restart.Delay)
	}
	return duration(nil, defaults.Service.Task.Restart.Delay)
}

// startTime is how long a health check may take to say healthy for the first time; a minute without one.
func startTime(t *api.Task) time.Duration {
	c := container(t)
	if c == nil || c.Healthcheck == nil || len(c.Healthcheck.Test) > 0 && c.Healthcheck.Test[0] == "NONE" {
		return long
	}
	h := c.Healthcheck
	interval, timeout, retries := duration(h.Interval, nil), duration(h.Timeout, nil), h.Retries
	// The engine's defaults (daemon/health.go of Docker).
	if interval == 0 {
		interval = 30 * time.Second
	}
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	if retries == 0 {
		retries = 3
	}
	return duration(h.StartPeriod, nil) + interval*time.Duration(retries+1) + timeout
}

func stopGrace(t *api.Task) time.Duration {
	if c := container(t); c != nil {
		return duration(c.StopGracePeriod, defaults.Service.Task.GetContainer().StopGracePeriod)
	}
	return short
}

func container(t *api.Task) *api.ContainerSpec {
	if t == nil {
		return nil
	}
	return t.Spec.GetContainer()
}
