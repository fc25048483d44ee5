package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestNotRetried(t *testing.T) { analyzertest.Run(t, "not-retried") }
