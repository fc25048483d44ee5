package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestPlacementConstraint(t *testing.T) { analyzertest.Run(t, "placement-constraint") }
