package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestPlatformMismatch(t *testing.T) { analyzertest.Run(t, "platform-mismatch") }
