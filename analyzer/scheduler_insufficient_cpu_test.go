package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestInsufficientCPU(t *testing.T) { analyzertest.Run(t, "insufficient-cpu") }
