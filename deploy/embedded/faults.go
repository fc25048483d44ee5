package embedded

import (
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/go-units"
)

// Planted is what a diagnosis of one stuck service must say.
type Planted struct {
	Service string
	Cause   string   // the cause's public name
	Shape   string   // "" where the cause has none
	Names   []string // what must occur in the diagnosis, each as Swarm writes it
}

// Faults lists every stuck service of the swarm, the one global service without a task included.
func Faults() []Planted {
	var planted []Planted
	for _, f := range faults() {
		planted = append(planted, Planted{Service: f.spec.Name, Cause: f.cause, Shape: f.shape, Names: f.names})
	}
	return planted
}

// fault is a stuck service with the cause that it was made for.
type fault struct {
	cause, shape string
	names        []string
	service
}

// faults are independent of each other: a pending task holds nothing.
func faults() []fault {
	var all []fault
	all = append(all, constraintFaults()...)
	all = append(all, resourceFaults()...)
	all = append(all, softwareFaults()...)
	return append(all, placeFaults()...)
}

// constraintFaults ask for nodes that do not exist, each by another slip; the diagnosis must name the constraints and, where one
// can be told, what was meant.
func constraintFaults() []fault {
	slip := func(name string, expressions []string, meant ...string) fault {
		return fault{
			cause: "placement-constraint", names: append(meant, expressions...),
			service: service{spec: create(name, "redis:7.4", constraints(expressions...)), waiting: 1},
		}
	}
	return []fault{
		slip("label-key-case", []string{"node.labels.Tier==data"}, "node.labels.tier"),
		slip("label-key-misspelt", []string{"node.labels.teir==data"}, "node.labels.tier"),
		slip("label-prefix-missing", []string{"region==eu-west"}, "node.labels.region"),
		slip("engine-label-as-node-label", []string{"node.labels.storage==nvme"}, "engine.labels.storage"),
		slip("constraint-key-unknown", []string{"node.name==node-2"}),
		slip("constraints-contradict", []string{"node.labels.tier==data", "node.labels.tier==edge"}),
		slip("architecture-alias", []string{"node.platform.arch==amd64"}, "x86_64"),
	}
}

// resourceFaults ask the two data nodes for more than they have: 16 GiB, 8 cores and 4 gpus each, of which 6 GiB, 3 cores
// and 1 gpu are free.
func resourceFaults() []fault {
	short := func(cause, shape, name string, asked swarm.Resources, names ...string) fault {
		return fault{
			// The data nodes are alike, so the nearest is the first by name.
			cause: cause, shape: shape, names: append(names, "node-2"),
			service: service{
				spec:    create(name, "spark:3.5", constraints("node.labels.tier==data"), reserve(asked)),
				waiting: 1,
			},
		}
	}
	memory := func(gib int64) swarm.Resources { return swarm.Resources{MemoryBytes: gib * units.GiB} }
	cpu := func(cores int64) swarm.Resources { return swarm.Resources{NanoCPUs: cores * 1e9} }
	devices := func(kind string, count int64) swarm.Resources {
		return swarm.Resources{GenericResources: generic(kind, count)}
	}
	return []fault{
		short("insufficient-memory", "too-large", "memory-too-large", memory(64)),
		short("insufficient-memory", "fragmented", "memory-fragmented", memory(8), "db"),
		short("insufficient-memory", "exhausted", "memory-exhausted", memory(14), "db"),
		short("insufficient-cpu", "too-large", "cpu-too-large", cpu(32)),
		short("insufficient-cpu", "fragmented", "cpu-fragmented", cpu(5), "trainer"),
		short("insufficient-cpu", "exhausted", "cpu-exhausted", cpu(7), "trainer"),
		short("insufficient-generic-resource", "not-advertised", "generic-not-advertised", devices("fpga", 1), "fpga"),
		short("insufficient-generic-resource", "too-large", "generic-too-large", devices("gpu", 8), "gpu"),
		short("insufficient-generic-resource", "fragmented", "generic-fragmented", devices("gpu", 2), "gpu", "trainer"),
		short("insufficient-generic-resource", "exhausted", "generic-exhausted", devices("gpu", 3), "gpu", "trainer"),
	}
}

// softwareFaults ask for a driver, a platform or a volume that no node can offer.
func softwareFaults() []fault {
	return []fault{
		{
			cause: "plugin-missing", names: []string{"rexray/ebs"},
			service: service{spec: create("volume-driver-missing", "mariadb:11", mounted(mount.Mount{
				Type: mount.TypeVolume, Source: "ledger", Target: "/var/lib/mysql",
				VolumeOptions: &mount.VolumeOptions{DriverConfig: &mount.Driver{Name: "rexray/ebs"}},
			})), waiting: 1},
		},
		{
			cause: "plugin-missing", names: []string{"splunk"},
			service: service{spec: create("log-driver-missing", "nginx:1.27", logDriver("splunk")), waiting: 1},
		},
		{
			cause: "platform-mismatch", names: []string{"amd64", "aarch64"},
			service: service{spec: create("platform-mismatch", "mysql:5.7", constraints("node.labels.tier==edge"),
				platforms(swarm.Platform{Architecture: "amd64", OS: "linux"})), waiting: 1},
		},
		{
			cause: "cluster-volume-unavailable", names: []string{pausedVolume},
			service: service{spec: create("cluster-volume-unavailable", "mariadb:11", mounted(mount.Mount{
				Type: mount.TypeCluster, Source: pausedVolume, Target: "/var/lib/mysql",
				ClusterOptions: &mount.ClusterOptions{},
			})), waiting: 1},
		},
	}
}

// placeFaults find their nodes, and no room for one more task on them.
func placeFaults() []fault {
	return []fault{
		{
			cause: "host-port-taken", names: []string{"80", "proxy"},
			service: service{spec: create("host-port-taken", "caddy:2.9", hostPort(80)), waiting: 1},
		},
		{
			cause: "max-replicas-reached",
			service: service{spec: create("max-replicas-reached", "memcached:1.6", replicas(3), maxReplicas(1),
				constraints("node.labels.tier==data")), running: 2, waiting: 1},
		},
		{
			cause: "no-available-node", names: []string{"node-6", "drain"},
			service: service{spec: create("no-available-node", "redis:7.4", constraints("node.labels.rack==r3")), waiting: 1},
		},
		{
			cause: "no-eligible-node", names: []string{"node.labels.gpu==true"},
			service: service{spec: create("no-eligible-node", "nvidia/dcgm-exporter:4.1.1", global(),
				constraints("node.labels.gpu==true"))},
		},
	}
}
