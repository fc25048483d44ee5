package analyzer

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

func TestAnUpdateGoesByTheRollbacksSettingsOnlyWhileOneIsUnderWay(t *testing.T) {
	t.Parallel()
	startFirst := &api.UpdateConfig{Order: api.UpdateConfig_START_FIRST, Parallelism: 2}
	stopFirst := &api.UpdateConfig{Order: api.UpdateConfig_STOP_FIRST}
	for name, test := range map[string]struct {
		update, rollback *api.UpdateConfig
		status           api.UpdateStatus_UpdateState
		startFirst       bool
		parallelism      int
	}{
		"an update":                            {startFirst, stopFirst, api.UpdateStatus_UPDATING, true, 2},
		"a rollback":                           {stopFirst, startFirst, api.UpdateStatus_ROLLBACK_STARTED, true, 2},
		"a rollback where updates start first": {startFirst, stopFirst, api.UpdateStatus_ROLLBACK_STARTED, false, 5},
		"a rollback that is done":              {startFirst, stopFirst, api.UpdateStatus_ROLLBACK_COMPLETED, true, 2},
		"a rollback without settings":          {startFirst, nil, api.UpdateStatus_ROLLBACK_STARTED, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &api.Service{Spec: api.ServiceSpec{Update: test.update, Rollback: test.rollback}, UpdateStatus: &api.UpdateStatus{State: test.status}}
			if got := IsStartFirst(s); got != test.startFirst {
				t.Errorf("start-first: %t", got)
			}
			if got := Parallelism(s, 5); got != test.parallelism {
				t.Errorf("parallelism %d, want %d", got, test.parallelism)
			}
		})
	}
}
