package remedy

import (
	"testing"

	"github.com/docker/cli/opts"
	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

func TestReservedMemoryIsLowered(t *testing.T) {
	t.Parallel()
	var (
		web   = service("web", 1, reserves(12*gib, 0))
		three = service("web", 3, reserves(6*gib, 0))
		shop  = service("shop_web", 4, reserves(10*gib, 0), inStack("shop"))
		db    = service("db", 2, reserves(3*gib, 0))
		none  = service("web", 1, reserves(12*gib, 0), reservesGeneric("gpu", 0))
	)
	check(t, "insufficient-memory", []example{
		{
			"a reservation that is too large is lowered to what the largest node has",
			list(node(1), node(2, memoryOf(9*gib)), web, waiting(web, 1, 1)),
			[]string{"docker service update --reserve-memory 9GiB web | 1 on node-2 | none"},
		},
		{
			"a generic resource of which none is asked bounds nothing",
			list(node(1, offers("gpu", 2)), none, waiting(none, 1, 1)),
			[]string{"docker service update --reserve-memory 8GiB web | 1 on node-1 | none"},
		},
		{
			"it is lowered so that all that wait fit, and no further",
			list(node(1), node(2, memoryOf(5*gib)), three, waiting(three, 1, 3), db, on(db, 1, 1)),
			[]string{"docker service update --reserve-memory 2GiB web | 3 on node-1, node-2 | none"},
		},
		{
			"the tasks that run restart, and the stack's file has to say the same",
			list(node(1, memoryOf(16*gib)), node(2, memoryOf(16*gib)), shop, waiting(shop, 3, 2), on(shop, 1, 2)),
			[]string{"docker service update --reserve-memory 6GiB shop_web | 2 on node-1, node-2 | restarts 2 | services.web.deploy.resources.reservations.memory: 6G"},
		},
	})
}

func TestMemoryIsFoundByNodesAndMoves(t *testing.T) {
	t.Parallel()
	var (
		web   = service("web", 1, reserves(12*gib, 0))
		db    = service("db", 2, reserves(3*gib, 0))
		mongo = service("mongo", 1, reserves(5*gib, 0), func(s *api.ServiceSpec) {
			s.Task.GetContainer().Mounts = []api.Mount{{Type: api.MountTypeVolume, Source: "data", Target: "/data"}}
		})
		six    = service("web", 1, reserves(6*gib, 0))
		logs   = service("logs", 0, global, reserves(6*gib, 0))
		both   = service("web", 1, reserves(32*gib, 8*core))
		idle   = service("idle", 1)
		labels = service("web", 1, reserves(12*gib, 0), constrained("node.labels.env==prod"))
	)
	check(t, "insufficient-memory", []example{
		{
			"a node that is paused is activated",
			list(node(1), node(2, paused, memoryOf(16*gib)), web, waiting(web, 1, 1)),
			[]string{
				"docker service update --reserve-memory 8GiB web | 1 on node-1 | none",
				"docker node update --availability active node-2 | 1 on node-2 | none",
			},
		},
		{
			"of fragmented memory the smallest move frees a node",
			list(node(1), node(2), six, waiting(six, 1, 1), db, on(db, 1, 2), idle, on(idle, 2)),
			[]string{
				"docker service update --reserve-memory 5GiB web | 1 on node-1 | none",
				"docker service update --constraint-add 'node.id!=id1' db && docker service update --constraint-rm 'node.id!=id1' db | 1 on node-1 | restarts 1",
			},
		},
		{
			"a move leaves a local volume behind",
			list(node(1), node(2, memoryOf(5*gib)), six, waiting(six, 1, 1), mongo, on(mongo, 1)),
			[]string{
				"docker service update --reserve-memory 5GiB web | 1 on node-2 | none",
				"docker service update --constraint-add 'node.id!=id1' mongo && docker service update --constraint-rm 'node.id!=id1' mongo | 1 on node-1 | data 1",
			},
		},
		{
			"a global service's tasks stay on their nodes",
			list(node(1), node(2), logs, waitingOn(logs, 1, 2), db, on(db, 1, 2)),
			[]string{
				"docker service update --reserve-memory 5GiB logs | 2 on node-1, node-2 | none",
				"docker service update --constraint-add 'node.id!=id1' db && docker service update --constraint-rm 'node.id!=id1' db | 1 on node-1 | restarts 1",
			},
		},
		{
			"where two resources are short one update lowers both",
			list(node(1), both, waiting(both, 1, 1)),
			[]string{"docker service update --reserve-cpu 4 --reserve-memory 8GiB web | 1 on node-1 | none"},
		},
		{
			"a paused node that the constraints leave out is let be",
			list(node(1, labelled("env", "prod")), node(2, paused, memoryOf(16*gib)), labels, waiting(labels, 1, 1)),
			[]string{"docker service update --reserve-memory 8GiB web | 1 on node-1 | none"},
		},
	})
}

func TestInsufficientCPU(t *testing.T) {
	t.Parallel()
	var (
		web   = service("web", 1, reserves(0, 5.5*core))
		shop  = service("shop_web", 1, reserves(0, 4*core), inStack("shop"))
		other = service("other", 1, reserves(0, 2.45*core))
	)
	check(t, "insufficient-cpu", []example{
		{
			"a reservation is lowered to what the largest node has",
			list(node(1), web, waiting(web, 1, 1)),
			[]string{"docker service update --reserve-cpu 4 web | 1 on node-1 | none"},
		},
		{
			"what is free is rounded down to what is read easily",
			list(node(1), shop, waiting(shop, 1, 1), other, on(other, 1)),
			[]string{"docker service update --reserve-cpu 1.5 shop_web | 1 on node-1 | none | services.web.deploy.resources.reservations.cpus: '1.5'"},
		},
	})
}

func TestInsufficientGenericResource(t *testing.T) {
	t.Parallel()
	var (
		web   = service("web", 1, reservesGeneric("gpu", 3))
		shop  = service("shop_web", 1, reservesGeneric("GPU", 1), reservesGeneric("ssd", 1), inStack("shop"))
		fpga  = service("web", 1, reservesGeneric("fpga", 1))
		train = service("train", 2, reservesGeneric("gpu", 1))
	)
	check(t, "insufficient-generic-resource", []example{
		{
			"a reservation is lowered by adding the kind again",
			list(node(1, offers("gpu", 2)), web, waiting(web, 1, 1)),
			[]string{"docker service update --generic-resource-add 'gpu=2' web | 1 on node-1 | none"},
		},
		{
			"a kind in another case is corrected",
			list(node(1, offers("gpu", 2), offers("ssd", 1)), shop, waiting(shop, 1, 1)),
			[]string{"docker service update --generic-resource-rm GPU --generic-resource-add 'gpu=1' shop_web | 1 on node-1 | none | services.web.deploy.resources.reservations.generic_resources: [{\"discrete_resource_spec\":{\"kind\":\"ssd\",\"value\":1}},{\"discrete_resource_spec\":{\"kind\":\"gpu\",\"value\":1}}]"},
		},
		{
			"a kind that no node offers has to be advertised",
			list(node(1, offers("gpu", 2)), fpga, waiting(fpga, 1, 1)),
			[]string{"at node-1: systemctl restart docker | not verified | none"},
		},
		{
			"a task that holds a piece moves to where another is free",
			list(node(1, offers("gpu", 3)), node(2, offers("gpu", 2)), web, waiting(web, 1, 1), train, on(train, 1)),
			[]string{
				"docker service update --generic-resource-add 'gpu=2' web | 1 on node-2 | none",
				"docker service update --constraint-add 'node.id!=id1' train && docker service update --constraint-rm 'node.id!=id1' train | 1 on node-1 | outage 1",
			},
		},
	})
}

func TestDockerReadsAmountsAsTheyWereMeant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.Int64Range(leastMemory, 1<<42).Draw(t, "bytes")
		rounded := readable(filters.Memory, free)
		var read opts.MemBytes
		if err := read.Set(memory(rounded)); err != nil || read.Value() != rounded {
			t.Fatalf("%d bytes are written %s, which docker reads as %d (%v)", rounded, memory(rounded), read.Value(), err)
		}
		if rounded > free || rounded < free-free/4 || rounded < leastMemory {
			t.Fatalf("of %d bytes %d are left by rounding", free, rounded)
		}
		nano := rapid.Int64Range(leastCPU, 512*core).Draw(t, "nano cpus")
		rounded = readable(filters.CPU, nano)
		var cores opts.NanoCPUs
		if err := cores.Set(cpus(rounded)); err != nil || cores.Value() != rounded {
			t.Fatalf("%d are written %s, which docker reads as %d (%v)", rounded, cpus(rounded), cores.Value(), err)
		}
		if rounded > nano || rounded < nano-nano/2 || rounded < leastCPU {
			t.Fatalf("of %d billionths of a core %d are left by rounding", nano, rounded)
		}
	})
}
