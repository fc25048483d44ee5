package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestClusterVolumeUnavailable(t *testing.T) { analyzertest.Run(t, "cluster-volume-unavailable") }
