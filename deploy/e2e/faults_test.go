//go:build live

package e2e

import (
	"os"
	"strings"
)

// fault is a service that cannot be placed, how it is made, and how it heals.
type fault struct {
	service      string
	create       string // the options of docker service create
	update       string // those of docker service update, where it can be placed until that
	cause, shape string
	names        []string // what the diagnosis must name
	heal         string   // a command line
	healByAPI    func()   // instead of heal, where the command line cannot
	unproven     bool     // whether no copy of the cluster can show a remedy
}

// prepare labels nodes and fills them, so that the faults below have the shape they should.
const prepare = `
for node in node-1 node-2 node-3 node-4; do docker node update --label-add tier=gold $node; done
docker node update --label-add env=prod --label-add Zone=eu node-1
docker node update --label-add env=prod --label-add pool=one node-2
docker service create -d --no-resolve-image --name filler --mode global --reserve-memory 12g --reserve-cpu 1.5 demo:1
docker service create -d --no-resolve-image --name trainer --mode global --constraint node.labels.env==prod --generic-resource gpu=3 demo:1
docker service create -d --no-resolve-image --name holder --mode global --publish mode=host,published=9000,target=8080 demo:1
docker service create -d --no-resolve-image --name healthy --replicas 3 demo:1`

// wellServices must never be blamed.
var wellServices = []string{"swarmdiag", "filler", "trainer", "holder", "healthy"}

func constrained(service, constraint, right string, names ...string) fault {
	return fault{
		service: service, create: "--constraint '" + constraint + "'", cause: "placement-constraint", names: append(names, constraint),
		heal: "docker service update -d --constraint-rm '" + constraint + "' --constraint-add '" + right + "' " + service,
	}
}

func reserving(service, option, constraint, cause, shape string) fault {
	f := fault{service: service, create: option, cause: cause, shape: shape, heal: "docker service update -d --reserve-memory 0 --reserve-cpu 0 " + service}
	if constraint != "" {
		f.create += " --constraint " + constraint
	}
	if kind, _, generic := strings.Cut(strings.TrimPrefix(option, "--generic-resource "), "="); generic && kind != option {
		f.names = []string{kind}
		f.heal = "docker service update -d --generic-resource-rm " + kind + " " + service
	}
	return f
}

func unprovable(f fault) fault {
	f.unproven = true
	return f
}

// isShort tells that one fault of each kind is enough, and of each the first remedy.
func isShort() bool { return os.Getenv("LIVE_FAULTS") == "short" }

// faults are all independent of each other: a pending task holds nothing.
func faults() []fault {
	all := []fault{
		constrained("key-case", "node.labels.zone==eu", "node.labels.Zone==eu", "node.labels.Zone"),
		constrained("near-spelling", "node.labels.evn==prod", "node.labels.env==prod", "node.labels.env"),
		constrained("near-value", "node.labels.env==production", "node.labels.env==prod", "prod"),
		constrained("engine-label", "node.labels.rack==r1", "engine.labels.rack==r1", "engine.labels.rack"),
		constrained("missing-prefix", "env==prod", "node.labels.env==prod", "node.labels.env"),
		constrained("unwanted-label", "node.labels.tier!=gold", "node.labels.tier==gold", "tier"),
		constrained("unknown-key", "node.name==node-2", "node.hostname==node-2", "node.hostname"),
		{
			service: "contradiction", create: "--constraint node.labels.env==prod --constraint node.labels.env==test", cause: "placement-constraint",
			names: []string{"contradict"}, heal: "docker service update -d --constraint-rm node.labels.env==test contradiction",
		},
		reserving("memory-too-large", "--reserve-memory 900g", "", "insufficient-memory", "too-large"),
		reserving("memory-fragmented", "--reserve-memory 16g", "", "insufficient-memory", "fragmented"),
		reserving("memory-exhausted", "--reserve-memory 16g", "node.labels.pool==one", "insufficient-memory", "exhausted"),
		reserving("cpu-too-large", "--reserve-cpu 64", "", "insufficient-cpu", "too-large"),
		reserving("cpu-fragmented", "--reserve-cpu 1.8", "", "insufficient-cpu", "fragmented"),
		reserving("cpu-exhausted", "--reserve-cpu 1.8", "node.labels.pool==one", "insufficient-cpu", "exhausted"),
		unprovable(reserving("generic-not-advertised", "--generic-resource fpga=1", "", "insufficient-generic-resource", "not-advertised")),
		reserving("generic-too-large", "--generic-resource gpu=9", "", "insufficient-generic-resource", "too-large"),
		reserving("generic-fragmented", "--generic-resource gpu=2", "", "insufficient-generic-resource", "fragmented"),
		{
			service: "volume-plugin", create: "--mount type=volume,source=data,target=/data,volume-driver=rexray", cause: "plugin-missing",
			names: []string{"rexray"}, heal: "docker service update -d --mount-rm /data volume-plugin", unproven: true,
		},
		{
			service: "log-plugin", create: "--log-driver loki", cause: "plugin-missing",
			names: []string{"loki"}, heal: "docker service update -d --log-driver json-file log-plugin", unproven: true,
		},
		{
			service: "host-port", create: "--publish mode=host,published=9000,target=8080", cause: "host-port-taken",
			names: []string{"9000/tcp", "holder"}, heal: "docker service update -d --publish-rm mode=host,published=9000,target=8080 host-port",
		},
		{
			service: "max-replicas", create: "--replicas 5 --replicas-max-per-node 1", cause: "max-replicas-reached",
			names: []string{"1 per node"}, heal: "docker service update -d --replicas-max-per-node 2 max-replicas",
		},
		{
			service: "global-no-node", create: "--mode global --constraint node.labels.gpu==true", cause: "no-eligible-node",
			names: []string{"node.labels.gpu==true"}, heal: "docker node update --label-add gpu=true node-3",
		},
	}
	if !isShort() {
		return all
	}
	kinds, short := map[string]bool{}, []fault{}
	for _, f := range all {
		if !kinds[f.cause] {
			kinds[f.cause] = true
			short = append(short, f)
		}
	}
	return short
}

// moreFaults take a kind of remedy that those above do not: two changes together, an update that stops first, a node's role.
func moreFaults() []fault {
	return []fault{
		{service: "two-reasons", create: "--constraint node.labels.disk==ssd --reserve-memory 900g", cause: "placement-constraint"},
		{
			service: "starts-first", create: "--constraint node.hostname==node-4 --publish mode=host,published=9100,target=8080 --update-order start-first",
			update: "--env-add changed=yes", cause: "host-port-taken",
		},
		{service: "needs-manager", create: "--constraint node.hostname==node-4 --constraint node.role==manager", cause: "placement-constraint"},
	}
}
