package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmdiag/swarmdiag/collector"
)

// FuzzObjects: whatever an engine sends, it is converted or named as a gap.
func FuzzObjects(f *testing.F) {
	for _, cluster := range []string{"memory-fragmented", "host-port"} {
		read := func(name string) []byte {
			content, err := os.ReadFile(filepath.Join("testdata", cluster, name+".json"))
			if err != nil {
				f.Fatal(err)
			}
			return content
		}
		f.Add(read("nodes"), read("services"), read("tasks"), read("networks"), read("info"))
	}
	f.Add([]byte(`[{"Description":{"Hostname":"a","CSIInfo":[{}],"Resources":{"GenericResources":[{}]}}}]`),
		[]byte(`[{"ID":"s","Spec":{"TaskTemplate":{"ContainerSpec":{"Secrets":[null],"Configs":[null],"Ulimits":[null]}}},"PreviousSpec":{"TaskTemplate":{"PluginSpec":{"Privileges":[null]}}}}]`),
		[]byte(`[{"ServiceID":"s","Slot":-1,"Status":{"State":"running"},"DesiredState":"running"}]`), []byte(`[{"Scope":"swarm"}]`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, nodes, services, tasks, networks, info []byte) {
		i := &Inspected{}
		for _, part := range []struct {
			content []byte
			into    any
		}{{nodes, &i.Nodes}, {services, &i.Services}, {tasks, &i.Tasks}, {networks, &i.Networks}, {info, &i.Info}} {
			if json.Unmarshal(part.content, part.into) != nil {
				return
			}
		}
		objects, _ := i.Objects()
		_ = collector.NewStore().Replace(objects) // fails for an object without an id
	})
}
