package constraints

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"
)

func TestSomeOfTheNodesAreReadAsIfThereWereNoOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := drawNodes(t, 9)
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(whole), 0, len(whole), rapid.ID[*api.Node]).Draw(t, "some")
		if rapid.Bool().Draw(t, "and one of another swarm") {
			some = append(some, drawNode(t))
		}
		expressions, err := Parse(drawExpressions(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		alone, among := NewTable(some), NewTable(whole).Among(some)
		for _, e := range expressions {
			if diff := cmp.Diff(alone.Failing(e), among.Failing(e)); diff != "" {
				t.Errorf("%s (-alone +among):\n%s", e.Text, diff)
			}
		}
	})
}
