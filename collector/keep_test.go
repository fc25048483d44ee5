package collector

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// allowed are the paths of all text that is kept. Whoever adds one says in review why it can be no secret.
var allowed = slices.Sorted(slices.Values(slices.Concat(
	under("Node", "ID", "Spec.Annotations.Name", "Spec.Annotations.Labels.key", "Spec.Annotations.Labels.value", "Status.Message",
		"Status.Addr", "ManagerStatus.Addr", "Description.Hostname", "Description.Platform.Architecture", "Description.Platform.OS",
		"Description.Engine.EngineVersion", "Description.Engine.Labels.key", "Description.Engine.Labels.value",
		"Description.Engine.Plugins.Name", "Description.Engine.Plugins.Type", "Description.CSIInfo.PluginName",
		"Description.CSIInfo.AccessibleTopology.Segments.key", "Description.CSIInfo.AccessibleTopology.Segments.value"),
	under("Node.Description.Resources.Generic", generic...),
	under("Service", "ID", "Endpoint.Ports.Name", "UpdateStatus.Message"),
	under("Service.Spec", serviceSpec...),
	under("Service.Spec.Task", taskSpec...),
	under("Service.PreviousSpec", serviceSpec...),
	under("Service.PreviousSpec.Task", taskSpec...),
	under("Task", "ID", "ServiceID", "NodeID", "ServiceAnnotations.Name", "Endpoint.Ports.Name", "Status.Err", "Status.Message",
		"Status.PortStatus.Ports.Name", "Status.RuntimeStatus.Container.ContainerID", "Networks.Addresses",
		"Volumes.ID", "Volumes.Source", "Volumes.Target"),
	under("Task.Spec", taskSpec...),
	under("Task.AssignedGenericResources", generic...),
	under("Task.Networks.Network", network...),
	under("Network", network...),
	under("Volume", "ID", "Spec.Annotations.Name", "Spec.Group", "Spec.Driver.Name", "VolumeInfo.VolumeID", "PublishStatus.NodeID",
		"PublishStatus.Message", "VolumeInfo.AccessibleTopology.Segments.key", "VolumeInfo.AccessibleTopology.Segments.value"),
)))

var (
	generic     = []string{"Resource.DiscreteResourceSpec.Kind", "Resource.NamedResourceSpec.Kind", "Resource.NamedResourceSpec.Value"}
	network     = []string{"ID", "Spec.Annotations.Name", "DriverState.Name"}
	serviceSpec = []string{"Annotations.Name", "Endpoint.Ports.Name", "Networks.Target"}
	taskSpec    = slices.Concat(under("Resources.Reservations.Generic", generic...), []string{
		"LogDriver.Name", "Networks.Target", "Placement.Constraints", "Placement.Platforms.Architecture", "Placement.Platforms.OS",
		"Placement.Preferences.Preference.Spread.SpreadDescriptor", "Runtime.Attachment.ContainerID", "Runtime.Generic.Kind",
		"Runtime.Container.Env.name", "Runtime.Container.Image", "Runtime.Container.Mounts.Source",
		"Runtime.Container.Mounts.Target", "Runtime.Container.Mounts.VolumeOptions.DriverConfig.Name",
	})
)

func under(path string, fields ...string) []string {
	var paths []string
	for _, field := range fields {
		paths = append(paths, path+"."+field)
	}
	return paths
}

const marker = "marker "

// mark writes the path of a field into it, so that it is known wherever it turns up. Variables of the environment have
// a name and a value.
func mark(path string) string {
	if strings.HasSuffix(path, ".Env") {
		return marker + path + ".name=" + marker + path + ".value"
	}
	return marker + path
}

func TestOnlyTextOnTheListIsKept(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for variant := range collectortest.Variants {
		store := NewStore()
		if err := store.Put(
			collectortest.Filled[api.Node](variant, mark), collectortest.Filled[api.Service](variant, mark),
			collectortest.Filled[api.Task](variant, mark), collectortest.Filled[api.Network](variant, mark),
			collectortest.Filled[api.Volume](variant, mark),
			collectortest.Filled[api.Cluster](variant, mark), collectortest.Filled[api.Secret](variant, mark),
			collectortest.Filled[api.Config](variant, mark), // never stored
		); err != nil {
			t.Fatal(err)
		}
		state := store.Snapshot()
		for _, objects := range []any{
			slices.Collect(state.Nodes()), slices.Collect(state.Services()), slices.Collect(state.Tasks()),
			slices.Collect(state.Networks()), slices.Collect(state.Volumes()),
		} {
			eachText(reflect.ValueOf(objects), func(text string) {
				for i, part := range strings.Split(text, marker) {
					if i > 0 { // before the first is no mark
						found[strings.TrimSuffix(part, "=")] = true
					}
				}
			})
		}
	}
	if diff := cmp.Diff(allowed, slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("kept text (-allowed +kept):\n%s", diff)
	}
}

func TestWhatChangedIsKnownWhereItsValueIsNot(t *testing.T) {
	t.Parallel()
	container := func(command string, env ...string) api.TaskSpec {
		return api.TaskSpec{Runtime: &api.TaskSpec_Container{Container: &api.ContainerSpec{Command: []string{command}, Env: env}}}
	}
	kept := keepService(&api.Service{
		Spec:         api.ServiceSpec{Task: container("serve", "SAME=1", "CHANGED=new", "ADDED=1")},
		PreviousSpec: &api.ServiceSpec{Task: container("run", "SAME=1", "CHANGED=old", "GONE=1")},
	})
	now, before := kept.Spec.Task.GetContainer(), kept.PreviousSpec.Task.GetContainer()
	if diff := cmp.Diff([]string{"SAME", "CHANGED", "ADDED"}, now.Env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"SAME", "CHANGED=(differs)", "GONE"}, before.Env); diff != "" {
		t.Error(diff)
	}
	if len(now.Command) != 0 || !slices.Equal(before.Command, []string{"(differs)"}) || before.Args != nil {
		t.Errorf("command %q, before %q, arguments %q", now.Command, before.Command, before.Args)
	}
}

func TestOfTheLabelsOfAServiceOnlyTheStackAndOursAreKept(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"com.docker.stack.namespace": "shop", "swarmdiag.ignore": "*", "db.password": "hunter2"}
	kept := keepService(&api.Service{Spec: api.ServiceSpec{Annotations: api.Annotations{Labels: labels}}})
	delete(labels, "db.password")
	if diff := cmp.Diff(labels, kept.Spec.Annotations.Labels); diff != "" {
		t.Error(diff)
	}
}

// eachText calls do with every string and every slice of bytes below v.
func eachText(v reflect.Value, do func(string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachText(v.Elem(), do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			eachText(v.Field(i), do)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			do(string(v.Bytes()))
			return
		}
		for i := range v.Len() {
			eachText(v.Index(i), do)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			eachText(key, do)
			eachText(v.MapIndex(key), do)
		}
	case reflect.String:
		do(v.String())
	}
}
