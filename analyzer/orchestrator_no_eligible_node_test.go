package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestNoEligibleNode(t *testing.T) { analyzertest.Run(t, "no-eligible-node") }
