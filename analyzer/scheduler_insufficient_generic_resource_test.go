package analyzer_test

import (
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestInsufficientGenericResource(t *testing.T) {
	analyzertest.Run(t, "insufficient-generic-resource")
}
