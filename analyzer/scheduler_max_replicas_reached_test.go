package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestMaxReplicasReached(t *testing.T) { analyzertest.Run(t, "max-replicas-reached") }
