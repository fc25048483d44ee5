package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestPluginMissing(t *testing.T) { analyzertest.Run(t, "plugin-missing") }
