package analyzer

import (
	"testing"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/defaults"
)

func TestLastChangeTellsWhatAnUpdateChanged(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	tests := []struct {
		name   string
		change func(before, now *api.ServiceSpec)
		want   []string
	}{
		{"image and replicas", func(_, now *api.ServiceSpec) {
			now.Task.GetContainer().Image = "nginx:2"
			now.GetReplicated().Replicas = 4
		}, []string{"image nginx:1 -> nginx:2", "replicas 2 -> 4"}},
		{"reservations and limits", func(before, now *api.ServiceSpec) {
			before.Task.Resources = &api.ResourceRequirements{Reservations: &api.Resources{MemoryBytes: 2 * gib}}
			now.Task.Resources = &api.ResourceRequirements{
				Reservations: &api.Resources{MemoryBytes: 12 * gib, NanoCPUs: 5e8, Generic: []*api.GenericResource{{
					Resource: &api.GenericResource_DiscreteResourceSpec{DiscreteResourceSpec: &api.DiscreteGenericResource{Kind: "gpu", Value: 2}},
				}}},
				Limits: &api.Resources{MemoryBytes: 16 * gib},
			}
		}, []string{"reservation memory 2 GiB -> 12 GiB", "reservation cpu none -> 0.5", "reservation gpu added (2)", "limit memory none -> 16 GiB"}},
		{"placement", func(before, now *api.ServiceSpec) {
			before.Task.Placement = &api.Placement{Constraints: []string{"node.role==worker", "node.labels.a==b"}}
			now.Task.Placement = &api.Placement{
				Constraints: []string{"node.role==worker", "node.labels.a==c"}, MaxReplicas: 2,
				Platforms: []*api.Platform{{OS: "linux", Architecture: "arm64"}},
				Preferences: []*api.PlacementPreference{{Preference: &api.PlacementPreference_Spread{
					Spread: &api.SpreadOver{SpreadDescriptor: "node.labels.zone"},
				}}},
			}
		}, []string{
			"max replicas per node none -> 2", "constraint node.labels.a==c added",
			"placement preference spread=node.labels.zone added", "platform linux/arm64 added", "constraint node.labels.a==b removed",
		}},
		{"environment by name, arguments by the mark of what is not kept", func(before, now *api.ServiceSpec) {
			before.Task.GetContainer().Env = []string{"KEPT", "CHANGED=(differs)", "REMOVED"}
			now.Task.GetContainer().Env = []string{"KEPT", "CHANGED", "ADDED"}
			before.Task.GetContainer().Command = []string{"(differs)"}
			before.Task.GetContainer().Args = []string{"(differs)"}
		}, []string{"command changed", "arguments changed", "environment CHANGED changed", "environment ADDED added", "environment REMOVED removed"}},
		{"mounts, networks and ports", func(before, now *api.ServiceSpec) {
			before.Task.GetContainer().Mounts = []api.Mount{{Type: api.MountTypeBind, Source: "/srv", Target: "/data"}}
			now.Task.GetContainer().Mounts = []api.Mount{{
				Type: api.MountTypeVolume, Source: "data", Target: "/data", ReadOnly: true,
				VolumeOptions: &api.Mount_VolumeOptions{DriverConfig: &api.Driver{Name: "rexray"}},
			}}
			now.Task.Networks = []*api.NetworkAttachmentConfig{{Target: "net1"}}
			before.Endpoint = &api.EndpointSpec{Ports: []*api.PortConfig{{Protocol: api.ProtocolTCP, PublishedPort: 80, TargetPort: 80}}}
			now.Endpoint = &api.EndpointSpec{Mode: api.ResolutionModeDNSRoundRobin, Ports: []*api.PortConfig{
				{Protocol: api.ProtocolTCP, PublishedPort: 80, TargetPort: 8080, PublishMode: api.PublishModeHost}, {Protocol: api.ProtocolUDP, TargetPort: 53},
			}}
		}, []string{
			"mount /data bind /srv -> volume data driver rexray read-only", "network net1 added", "endpoint mode vip -> dnsrr",
			"published port 80/tcp ingress mode to 80 -> host mode to 8080", "published port of Swarm's choice for 53/udp added (ingress mode to 53)",
		}},
		{"restart, update, log driver, health and stop", func(_, now *api.ServiceSpec) {
			now.Task.Restart = &api.RestartPolicy{Condition: api.RestartOnFailure, MaxAttempts: 3}
			now.Update = &api.UpdateConfig{Parallelism: 2, Order: api.UpdateConfig_START_FIRST}
			now.Task.LogDriver = &api.Driver{Name: "journald"}
			now.Task.GetContainer().Healthcheck = &api.HealthConfig{Test: []string{"CMD"}, Interval: gogotypes.DurationProto(time.Second), Retries: 2}
			now.Task.GetContainer().StopGracePeriod = gogotypes.DurationProto(time.Minute)
		}, []string{
			"stop grace period 10s -> 1m0s",
			"health check as the image has it -> CMD (interval 1s, timeout 0s, retries 2, start period 0s)",
			"log driver journald added", "restart condition any -> on-failure", "restart max attempts 0 -> 3",
			"update order stop-first -> start-first", "update parallelism 1 -> 2",
		}},
		{"forced update", func(_, now *api.ServiceSpec) { now.Task.ForceUpdate = 3 }, []string{"forced updates 0 -> 3"}},
		{"labels that are read", func(_, now *api.ServiceSpec) {
			now.Annotations.Labels = map[string]string{"swarmdiag.ignore": "*"}
		}, []string{"label swarmdiag.ignore added (*)"}},
		{"defaults that docker shows in the current spec only", func(_, now *api.ServiceSpec) {
			*now = *defaults.InterpolateService(now)
		}, []string{"something that swarmdiag does not keep, such as a label, a secret or a config"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &api.Service{Spec: testSpec(), PreviousSpec: new(testSpec())}
			test.change(s.PreviousSpec, &s.Spec)
			if diff := cmp.Diff(test.want, ChangeOf(s).What); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func testSpec() api.ServiceSpec {
	return api.ServiceSpec{
		Task: api.TaskSpec{Runtime: &api.TaskSpec_Container{Container: &api.ContainerSpec{Image: "nginx:1"}}},
		Mode: &api.ServiceSpec_Replicated{Replicated: &api.ReplicatedService{Replicas: 2}},
	}
}

func TestLastChangeOfSpecsWithoutAContainer(t *testing.T) {
	t.Parallel()
	job := func(completions uint64) api.ServiceSpec {
		return api.ServiceSpec{Mode: &api.ServiceSpec_ReplicatedJob{ReplicatedJob: &api.ReplicatedJob{TotalCompletions: completions, MaxConcurrent: 1}}}
	}
	s := &api.Service{Spec: job(4), PreviousSpec: new(job(2))}
	if diff := cmp.Diff([]string{"completions 2 -> 4"}, ChangeOf(s).What); diff != "" {
		t.Error(diff)
	}
}

func TestLastChangeIsWhenTheUpdateStarted(t *testing.T) {
	t.Parallel()
	updated, started := time.Unix(2000, 0).UTC(), time.Unix(1000, 0).UTC()
	s := &api.Service{Spec: testSpec()}
	if ChangeOf(s) != nil {
		t.Error("a service that was never updated has a last change")
	}
	s.PreviousSpec = new(testSpec())
	s.Meta.UpdatedAt = protoTime(t, updated)
	if at := ChangeOf(s).At; !at.Equal(updated) {
		t.Errorf("without an update status: got %s, want %s", at, updated)
	}
	s.UpdateStatus = &api.UpdateStatus{StartedAt: protoTime(t, started)}
	if at := ChangeOf(s).At; !at.Equal(started) {
		t.Errorf("with an update status: got %s, want %s", at, started)
	}
}

func protoTime(t *testing.T, when time.Time) *gogotypes.Timestamp {
	t.Helper()
	stamp, err := gogotypes.TimestampProto(when)
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}
