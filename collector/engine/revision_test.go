package engine

import (
	"testing"
	"time"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/swarm"
	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// only converts one service and one task of it.
func only(t *testing.T, s swarm.Service, task swarm.Task) (*api.Service, *api.Task) {
	t.Helper()
	s.ID, task.ID, task.ServiceID = "s1", "t1", "s1"
	if task.Status.State == "" {
		task.Status.State = swarm.TaskStateRunning
	}
	task.DesiredState = swarm.TaskStateRunning
	objects, about := (&Inspected{Services: []swarm.Service{s}, Tasks: []swarm.Task{task}}).Objects()
	if len(about.Gaps) > 0 {
		t.Fatal(about.Gaps)
	}
	return objects[0].(*api.Service), objects[1].(*api.Task)
}

func taskTemplate(change func(*swarm.TaskSpec)) swarm.TaskSpec {
	spec := swarm.TaskSpec{
		ContainerSpec: &swarm.ContainerSpec{Image: "web:1", Env: []string{"A=1"}, DNSConfig: &swarm.DNSConfig{}},
		Resources:     &swarm.ResourceRequirements{Limits: &swarm.Limit{}, Reservations: &swarm.Resources{MemoryBytes: 1 << 30}},
		Placement:     &swarm.Placement{},
	}
	if change != nil {
		change(&spec)
	}
	return spec
}

func spec(change func(*swarm.TaskSpec), ports ...swarm.PortConfig) swarm.ServiceSpec {
	s := swarm.ServiceSpec{TaskTemplate: taskTemplate(change), EndpointSpec: &swarm.EndpointSpec{Mode: "vip", Ports: ports}}
	s.Name = "web"
	return s
}

// withDefaults is what docker service inspect shows where a spec says nothing.
func withDefaults(spec *swarm.TaskSpec) {
	grace, delay, attempts := 10*time.Second, 5*time.Second, uint64(0)
	spec.ContainerSpec.StopGracePeriod = &grace
	spec.RestartPolicy = &swarm.RestartPolicy{Condition: "any", Delay: &delay, MaxAttempts: &attempts}
	spec.Runtime = swarm.RuntimeContainer
}

func TestATaskIsOfTheSpecThatItRuns(t *testing.T) {
	t.Parallel()
	image := func(name string) func(*swarm.TaskSpec) {
		return func(s *swarm.TaskSpec) { s.ContainerSpec.Image = name }
	}
	for _, c := range []struct {
		name                    string
		current, previous, runs func(*swarm.TaskSpec)
		want                    uint64
	}{
		{"the same spec", nil, image("web:0"), nil, currentSpec},
		{"the spec before", image("web:2"), nil, nil, previousSpec},
		{"one that is older", image("web:3"), image("web:2"), nil, olderSpec},
		{"both, after a change of the number of replicas", nil, nil, nil, currentSpec},
		{"defaults shown of the service and not of the task", withDefaults, image("web:0"), nil, currentSpec},
		{"defaults shown of the current spec and not of the one before", func(s *swarm.TaskSpec) { withDefaults(s); image("web:2")(s) }, nil, nil, previousSpec},
		{"no placement in the one, an empty one in the other", func(s *swarm.TaskSpec) { s.Placement = nil }, image("web:0"), nil, currentSpec},
		{"another environment", func(s *swarm.TaskSpec) { s.ContainerSpec.Env = []string{"A=2"} }, nil, nil, previousSpec},
		{"another secret, which is not kept", func(s *swarm.TaskSpec) {
			s.ContainerSpec.Secrets = []*swarm.SecretReference{{SecretID: "x", File: &swarm.SecretReferenceFileTarget{Name: "x"}}}
		}, nil, nil, previousSpec},
		{"a forced update", func(s *swarm.TaskSpec) { s.ForceUpdate = 1 }, nil, nil, previousSpec},
		{"another reservation", func(s *swarm.TaskSpec) { s.Resources.Reservations.MemoryBytes = 2 << 30 }, nil, nil, previousSpec},
		{"another network", func(s *swarm.TaskSpec) { s.Networks = []swarm.NetworkAttachmentConfig{{Target: "net2"}} },
			func(s *swarm.TaskSpec) { s.Networks = []swarm.NetworkAttachmentConfig{{Target: "net1"}} },
			func(s *swarm.TaskSpec) { s.Networks = []swarm.NetworkAttachmentConfig{{Target: "net1"}} }, previousSpec},
		{"a mount of a type that is not known yet", func(s *swarm.TaskSpec) {
			s.ContainerSpec.Mounts = []mount.Mount{{Type: "hologram", Target: "/x"}}
		}, image("web:0"), func(s *swarm.TaskSpec) {
			s.ContainerSpec.Mounts = []mount.Mount{{Type: "hologram", Target: "/x"}}
		}, currentSpec},
	} {
		previous := spec(c.previous)
		s, task := only(t, swarm.Service{Spec: spec(c.current), PreviousSpec: &previous}, swarm.Task{Spec: taskTemplate(c.runs)})
		if task.SpecVersion.Index != c.want || s.SpecVersion.Index != currentSpec || s.PreviousSpecVersion.Index != previousSpec {
			t.Errorf("%s: task %d of service %d and %d, want %d", c.name, task.SpecVersion.Index, s.SpecVersion.Index, s.PreviousSpecVersion.Index, c.want)
		}
	}
	s, task := only(t, swarm.Service{Spec: spec(nil)}, swarm.Task{Spec: taskTemplate(image("web:0"))})
	if s.PreviousSpecVersion != nil || task.SpecVersion.Index != olderSpec {
		t.Errorf("a service without a previous spec: %v, task %v", s.PreviousSpecVersion, task.SpecVersion)
	}
}

func TestATaskHasThePortsOfItsSpec(t *testing.T) {
	t.Parallel()
	host := func(target, published uint32) swarm.PortConfig {
		return swarm.PortConfig{Protocol: "tcp", TargetPort: target, PublishedPort: published, PublishMode: "host"}
	}
	ingress := swarm.PortConfig{Protocol: "tcp", TargetPort: 80, PublishedPort: 30000, PublishMode: "ingress"}
	type ports = []swarm.PortConfig
	before, after := noon.Add(-time.Hour), noon.Add(time.Hour)
	image2 := func(s *swarm.TaskSpec) { s.ContainerSpec.Image = "web:2" }
	for _, c := range []struct {
		name          string
		now, previous ports
		change        func(*swarm.TaskSpec) // of the current spec
		runs          func(*swarm.TaskSpec)
		held          ports
		created       time.Time
		state         swarm.TaskState
		wantVersion   uint64
		want          []uint32 // published
	}{
		{"a service that never changed its ports", ports{host(80, 8080)}, ports{host(80, 8080)}, nil, nil, nil, before, "", currentSpec, []uint32{8080}},
		{"a new task has none yet", ports{host(80, 8080)}, ports{host(80, 8080)}, nil, nil, nil, after, "new", currentSpec, nil},
		{"ports in the routing mesh", ports{ingress}, ports{ingress}, nil, nil, nil, before, "", currentSpec, []uint32{30000}},
		{"the engine names a port once for each family", ports{host(80, 8080)}, ports{host(80, 8080)}, nil, nil, ports{host(80, 8080), host(80, 8080)}, before, "", currentSpec, []uint32{8080}},
		{"a port that the engine picks is not counted", ports{host(80, 0)}, ports{host(80, 0)}, nil, nil, ports{host(80, 32768)}, before, "", currentSpec, []uint32{0}},
		{"the previous spec with other ports", ports{host(80, 9090)}, ports{host(80, 8080)}, image2, nil, nil, before, "", previousSpec, []uint32{8080}},
		{"other ports are all that changed, and the task holds the old", ports{host(80, 9090)}, ports{host(80, 8080)}, nil, nil, ports{host(80, 8080)}, after, "", previousSpec, []uint32{8080}},
		{"other ports are all that changed, and the task holds the new", ports{host(80, 9090)}, ports{host(80, 8080)}, nil, nil, ports{host(80, 9090)}, before, "", currentSpec, []uint32{9090}},
		{"other ports are all that changed, and the task is older", ports{host(80, 9090)}, ports{host(80, 8080)}, nil, nil, nil, before, "", previousSpec, []uint32{8080}},
		{"other ports are all that changed, and the task is younger", ports{host(80, 9090)}, ports{host(80, 8080)}, nil, nil, nil, after, "pending", currentSpec, []uint32{9090}},
		{"an older spec: the engine knows", ports{host(80, 9090)}, ports{host(80, 8080)}, image2, func(s *swarm.TaskSpec) { s.ContainerSpec.Image = "web:0" },
			ports{host(80, 7070)}, before, "", olderSpec, []uint32{7070}},
	} {
		previous := spec(nil, c.previous...)
		s := swarm.Service{
			Spec: spec(c.change, c.now...), PreviousSpec: &previous,
			Endpoint:     swarm.Endpoint{Spec: swarm.EndpointSpec{Mode: "vip"}, Ports: c.now},
			UpdateStatus: &swarm.UpdateStatus{State: "updating", StartedAt: &noon},
		}
		task := swarm.Task{Spec: taskTemplate(c.runs), Meta: swarm.Meta{CreatedAt: c.created}, Status: swarm.TaskStatus{State: c.state}}
		task.Status.PortStatus.Ports = c.held
		_, got := only(t, s, task)
		var published []uint32
		for _, p := range got.Endpoint.Ports {
			published = append(published, p.PublishedPort)
		}
		if diff := cmp.Diff(c.want, published); diff != "" || got.SpecVersion.Index != c.wantVersion {
			t.Errorf("%s: version %d, want %d; ports %s", c.name, got.SpecVersion.Index, c.wantVersion, diff)
		}
	}
}

func TestTasksOfOtherRuntimesAreRead(t *testing.T) {
	t.Parallel()
	objects, about := (&Inspected{Tasks: []swarm.Task{
		{ID: "attachment", Spec: swarm.TaskSpec{NetworkAttachmentSpec: &swarm.NetworkAttachmentSpec{ContainerID: "c1"}, Runtime: swarm.RuntimeNetworkAttachment,
			Networks: []swarm.NetworkAttachmentConfig{{Target: "net1"}}}, Status: swarm.TaskStatus{State: "running"}, DesiredState: "running"},
		{ID: "plugin", Spec: swarm.TaskSpec{PluginSpec: &swarm.RuntimeSpec{Name: "nfs"}}, Status: swarm.TaskStatus{State: "running"}, DesiredState: "running"},
	}}).Objects()
	if len(about.Gaps) > 0 || len(objects) != 2 {
		t.Fatal(objects, about.Gaps)
	}
	attachment, plugin := objects[0].(*api.Task), objects[1].(*api.Task)
	if attachment.Spec.GetAttachment().ContainerID != "c1" || attachment.Spec.Networks[0].Target != "net1" || attachment.Endpoint != nil {
		t.Error(attachment)
	}
	if plugin.Spec.GetGeneric().Kind != "plugin" {
		t.Error(plugin)
	}
}

func TestASpecOfANewerEngineIsReadAsFarAsTheSchedulerGoes(t *testing.T) {
	t.Parallel()
	odd := spec(func(s *swarm.TaskSpec) {
		s.ContainerSpec.Mounts = []mount.Mount{{Type: "hologram"}, {Type: "cluster", Source: "data", Target: "/d"}}
		s.RestartPolicy = &swarm.RestartPolicy{Condition: "full-moon"}
		s.Placement.Constraints = []string{"node.role==worker"}
		s.ContainerSpec.Privileges = &swarm.Privileges{CredentialSpec: &swarm.CredentialSpec{}}
	})
	odd.UpdateConfig = &swarm.UpdateConfig{Order: "sideways", FailureAction: "panic", Parallelism: 3}
	odd.EndpointSpec.Mode = "anycast"
	got, err := serviceSpecOf(odd)
	if err != nil {
		t.Fatal(err)
	}
	container := got.Task.GetContainer()
	if container.Image != "web:1" || len(container.Mounts) != 1 || container.Mounts[0].Type != api.MountTypeCluster ||
		got.Task.Placement.Constraints[0] != "node.role==worker" || got.Task.Resources.Reservations.MemoryBytes != 1<<30 || got.Update.Parallelism != 3 {
		t.Error(got)
	}
}
