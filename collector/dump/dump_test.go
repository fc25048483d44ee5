package dump

import (
	"path/filepath"
	"testing"
)

func TestTmp(t *testing.T) {
	folders, _ := filepath.Glob("/work/shared/cases/*/nodes.json")
	for _, n := range folders {
		s, now, err := Read(filepath.Dir(n))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(filepath.Base(filepath.Dir(n)), now, s.Gaps, s.ClusterID, s.ClusterName)
		for task := range s.Tasks() {
			t.Log("  ", task.ServiceAnnotations.Name, task.Slot, task.Status.State, task.DesiredState, task.SpecVersion.Index, task.Endpoint, task.Status.Err)
		}
	}
}
