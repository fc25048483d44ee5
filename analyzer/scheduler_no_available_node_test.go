package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestNoAvailableNode(t *testing.T) { analyzertest.Run(t, "no-available-node") }
