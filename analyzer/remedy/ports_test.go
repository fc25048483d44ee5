package remedy

import (
	"testing"

	"github.com/docker/cli/opts/swarmopts"
	"github.com/docker/docker/api/types/swarm"
	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

func TestHostPortTaken(t *testing.T) {
	t.Parallel()
	var (
		web     = service("shop_web", 2, publishes(8080), inStack("shop"))
		proxy   = service("proxy", 1, publishes(8080))
		another = service("another", 1, publishes(8080))
		edge    = service("web", 1, publishes(8080), constrained("node.labels.edge==yes"))
		next    = service("next", 0, publishes(8081))
		rolled  = service("web", 1, publishes(8080), startFirst)
		three   = service("shop_three", 1, inStack("shop"), func(s *api.ServiceSpec) {
			s.Endpoint = &api.EndpointSpec{Ports: []*api.PortConfig{
				{TargetPort: 80, PublishedPort: 8080, PublishMode: api.PublishModeHost},
				{TargetPort: 53, PublishedPort: 8090, PublishMode: api.PublishModeHost, Protocol: api.ProtocolUDP},
				{TargetPort: 443},
			}}
		})
	)
	old := on(rolled, 1)
	rolled.SpecVersion = &api.Version{Index: 8}
	check(t, "host-port-taken", []example{
		{
			"the next port is published that nothing uses",
			list(node(1), web, waiting(web, 1, 1), proxy, on(proxy, 1), next),
			[]string{
				"docker service update --publish-rm 'published=8080,target=80,protocol=tcp,mode=host' --publish-add 'published=8082,target=80,protocol=tcp,mode=host' shop_web | 1 on node-1 | none | services.web.ports: [{\"target\":80,\"published\":8082,\"protocol\":\"tcp\",\"mode\":\"host\"}]",
			},
		},
		{
			"another port gives the service no more room than it has",
			list(node(1), node(2, paused), web, on(web, 1), waiting(web, 2, 1)),
			[]string{"docker node update --availability active node-2 | 1 on node-2 | none"},
		},
		{
			"as many would run under the next port as do now",
			list(node(1), node(2), web, on(web, 1, 2), waiting(web, 3, 1)),
			nil,
		},
		{
			"a node that another service's port closes is worth a restart, and what loses its place is taken off",
			list(node(1), node(2), node(3), web, on(web, 1), waiting(web, 2, 3), proxy, on(proxy, 2), another, on(another, 3)),
			[]string{
				"docker service update --publish-rm 'published=8080,target=80,protocol=tcp,mode=host' --publish-add 'published=8081,target=80,protocol=tcp,mode=host' shop_web | 2 on node-1, node-2, node-3 | outage 1 | services.web.ports: [{\"target\":80,\"published\":8081,\"protocol\":\"tcp\",\"mode\":\"host\"}]",
			},
		},
		{
			"in a stack's file stand all ports of the service",
			list(node(1), three, waiting(three, 1, 1), proxy, on(proxy, 1)),
			[]string{
				"docker service update --publish-rm 'published=8080,target=80,protocol=tcp,mode=host' --publish-add 'published=8081,target=80,protocol=tcp,mode=host' shop_three | 1 on node-1 | none" +
					" | services.three.ports: [{\"target\":80,\"published\":8081,\"protocol\":\"tcp\",\"mode\":\"host\"},{\"target\":53,\"published\":8090,\"protocol\":\"udp\",\"mode\":\"host\"},{\"target\":443,\"protocol\":\"tcp\",\"mode\":\"ingress\"}]",
			},
		},
		{
			"the holder moves to where the port is free",
			list(node(1, labelled("edge", "yes")), node(2), edge, waiting(edge, 1, 1), proxy, on(proxy, 1)),
			[]string{
				"docker service update --publish-rm 'published=8080,target=80,protocol=tcp,mode=host' --publish-add 'published=8081,target=80,protocol=tcp,mode=host' web | 1 on node-1 | none",
				"docker service update --constraint-add 'node.id!=id1' proxy && docker service update --constraint-rm 'node.id!=id1' proxy | 1 on node-1 | outage 1",
			},
		},
		{
			"the service's own old task stops first",
			list(node(1), rolled, old, waiting(rolled, 1, 1)),
			[]string{
				"docker service update --publish-rm 'published=8080,target=80,protocol=tcp,mode=host' --publish-add 'published=8081,target=80,protocol=tcp,mode=host' web | 1 on node-1 | restarts 1",
				"docker service update --update-order stop-first --force web | 1 on node-1 | outage 1",
			},
		},
	})
}

func TestDockerReadsPortsAsTheyWereMeant(t *testing.T) {
	t.Parallel()
	var read swarmopts.PortOpt
	if err := read.Set(published(api.PortConfig{TargetPort: 53, PublishedPort: 5353, Protocol: api.ProtocolUDP, PublishMode: api.PublishModeHost})); err != nil {
		t.Fatal(err)
	}
	want := []swarm.PortConfig{{TargetPort: 53, PublishedPort: 5353, Protocol: swarm.PortConfigProtocolUDP, PublishMode: swarm.PortConfigPublishModeHost}}
	if diff := cmp.Diff(want, read.Value()); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}
