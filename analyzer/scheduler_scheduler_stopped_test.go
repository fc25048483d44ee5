package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestSchedulerStopped(t *testing.T) { analyzertest.Run(t, "scheduler-stopped") }
