package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestInsufficientMemory(t *testing.T) { analyzertest.Run(t, "insufficient-memory") }
