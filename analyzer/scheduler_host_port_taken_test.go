package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestHostPortTaken(t *testing.T) { analyzertest.Run(t, "host-port-taken") }
