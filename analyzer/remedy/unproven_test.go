package remedy

import (
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

func imageFor(os, architecture string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.Placement.Platforms = []*api.Platform{{OS: os, Architecture: architecture}}
	}
}

func arm(n *api.Node) { n.Description.Platform.Architecture = "aarch64" }

func TestPlatformMismatch(t *testing.T) {
	t.Parallel()
	var (
		shop   = service("shop_web", 1, imageFor("linux", "arm64"), inStack("shop"))
		zoned  = service("web", 1, imageFor("linux", "arm64"), constrained("node.labels.zone==east"))
		digest = service("web", 1, imageFor("windows", "amd64"))
	)
	digest.Spec.Task.GetContainer().Image = "app:1@sha256:0123456789012345678901234567890123456789012345678901234567890123"
	check(t, "platform-mismatch", []example{
		{
			"an image for the nodes' platform no copy can show",
			list(node(1), shop, waiting(shop, 1, 1)),
			[]string{"docker service update --image app:1 shop_web | not verified | none | services.web.image: app:1"},
		},
		{
			"a node of the image's platform may lack a label only",
			list(node(1, labelled("zone", "east")), node(2, arm), node(3, arm, labelled("zone", "west")), zoned, waiting(zoned, 1, 1)),
			[]string{
				"docker node update --label-add 'zone=east' node-2 | 1 on node-2 | none",
				"docker service update --image app:1 web | not verified | none",
			},
		},
		{
			"the digest is not kept, which is that of the other platform",
			list(node(1), digest, waiting(digest, 1, 1)),
			[]string{"docker service update --image app:1 web | not verified | none"},
		},
	})
}

func TestPluginMissing(t *testing.T) {
	t.Parallel()
	var (
		web = service("web", 1, mounts(api.Mount{Type: api.MountTypeVolume, Source: "data", Target: "/data",
			VolumeOptions: &api.Mount_VolumeOptions{DriverConfig: &api.Driver{Name: "rexray"}}}))
		logs      = service("web", 1, func(s *api.ServiceSpec) { s.Task.LogDriver = &api.Driver{Name: "splunk"} })
		wrong     = func(s *api.ServiceSpec) { s.Task.LogDriver = &api.Driver{Name: "jsonfile"} }
		slip      = service("shop_web", 1, inStack("shop"), wrong)
		elsewhere = service("web", 1, wrong, constrained("node.labels.off!=yes"))
		both      = service("web", 1, wrong, mounts(web.Spec.Task.GetContainer().Mounts...))
		named     = func(n *api.Node) {
			n.Description.Engine.Plugins = append(n.Description.Engine.Plugins, api.PluginDescription{Type: "Log", Name: "jsonfile"})
		}
	)
	check(t, "plugin-missing", []example{
		{
			"a volume plugin is installed or woken",
			list(node(1), node(2, drained), web, waiting(web, 1, 1)),
			[]string{
				"at node-1: docker plugin install rexray | not verified | none",
				"at node-1: docker volume ls | not verified | none",
			},
		},
		{
			"a log plugin is installed",
			list(node(1), logs, waiting(logs, 1, 1)),
			[]string{"at node-1: docker plugin install splunk | not verified | none"},
		},
		{
			"a log driver's slip is corrected",
			list(node(1), slip, waiting(slip, 1, 1)),
			[]string{
				"docker service update --log-driver json-file shop_web | 1 on node-1 | none | services.web.logging.driver: json-file",
				"at node-1: docker plugin install jsonfile | not verified | none",
			},
		},
		{
			"a name that another node has is no slip",
			list(node(1), node(2, labelled("off", "yes"), named), elsewhere, waiting(elsewhere, 1, 1)),
			[]string{"at node-1: docker plugin install jsonfile | not verified | none"},
		},
		{
			"a slip is not all that is missing",
			list(node(1), both, waiting(both, 1, 1)),
			[]string{
				"at node-1: docker plugin install rexray | not verified | none",
				"at node-1: docker volume ls | not verified | none",
				"at node-1: docker plugin install jsonfile | not verified | none",
			},
		},
	})
}

func TestNotRetried(t *testing.T) {
	t.Parallel()
	web, logs := service("web", 3), service("logs", 0, global)
	former := waitingOn(logs, 1)
	logs.Spec = *logs.Spec.Copy()
	logs.Spec.Task.GetContainer().Image = "app:2"
	logs.SpecVersion = &api.Version{Index: 8}
	check(t, "not-retried", []example{{
		"a global service's task of a former spec is looked at on its node",
		list(node(1), logs, former),
		[]string{
			"docker node update --label-add 'swarmdiag.nudge=1' node-1 && docker node update --label-rm swarmdiag.nudge node-1 | 1 on node-1 | none",
			"docker service update --force logs | 1 on node-1 | none",
		},
	}, {
		"a nudge restarts nothing and comes first",
		list(node(1), node(2, drained), web, on(web, 1, 1), waiting(web, 3, 1)),
		[]string{
			"docker node update --label-add 'swarmdiag.nudge=1' node-1 && docker node update --label-rm swarmdiag.nudge node-1 | 1 on node-1 | none",
			"docker service update --force web | 1 on node-1 | restarts 2",
		},
	}})
}

func TestSchedulerStopped(t *testing.T) {
	t.Parallel()
	proxy := service("proxy", 1, constrained("node.role==manager"))
	web, other, runs := service("web", 1), service("other", 1), service("runs", 1)
	waits := list(web, other, waiting(web, 1, 1), waiting(other, 1, 1), runs, on(runs, 1))
	check(t, "scheduler-stopped", []example{
		{
			"another manager leads",
			append(list(node(1), node(2, managing), node(3, managing)), waits...),
			[]string{"at node-2: docker node demote node-1 && docker node promote node-1 | not verified | none"},
		},
		{
			"who may not be on a worker has to leave the leader",
			append(list(node(1), node(2, managing), node(3, managing), proxy, on(proxy, 1)), waits...),
			[]string{"at node-2: docker node demote node-1 && docker node promote node-1 | not verified | outage 1"},
		},
		{
			"while a manager is lost the leader stays one",
			append(list(node(1), node(2, managing), node(3, lost)), waits...),
			[]string{"at node-1: systemctl restart docker | not verified | outage 1"},
		},
		{
			"of two managers the leader stays one",
			append(list(node(1), node(2, managing)), waits...),
			[]string{"at node-1: systemctl restart docker | not verified | outage 1"},
		},
		{
			"the only manager's engine is restarted",
			append(list(node(1)), waits...),
			[]string{"at node-1: systemctl restart docker | not verified | outage 1"},
		},
	})
}
