package remedy

import "testing"

func TestGenericResourceThatNoNodeOffers(t *testing.T) {
	t.Parallel()
	var (
		web   = service("web", 1, reservesGeneric("fpga", 2))
		cache = service("cache", 2)
		east  = service("web", 1, reservesGeneric("fpga", 2), constrained("node.labels.zone==east"))
	)
	check(t, "insufficient-generic-resource", []example{
		{
			"the kind is advertised, on a node first where little stops for it",
			list(node(1), node(2), node(3, drained), web, cache, on(cache, 1), waiting(web, 1, 1)),
			[]string{
				"at node-2: systemctl restart docker | not verified | none",
				"at node-1: systemctl restart docker | not verified | outage 1",
			},
		},
		{
			"only nodes that are wanted have to offer it",
			list(node(1), node(2, labelled("zone", "east")), east, waiting(east, 1, 1)),
			[]string{"at node-2: systemctl restart docker | not verified | none"},
		},
	})
}
