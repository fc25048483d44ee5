package dump

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatADumpLacksIsNamedWithTheLinesThatMakeIt(t *testing.T) {
	t.Parallel()
	whole := map[string]string{}
	for _, name := range []string{"nodes.json", "services.json", "tasks.json", "networks.json", "info.json"} {
		whole[name] = content(t, name)
	}
	for name, c := range map[string]struct{ without, want string }{
		"nothing": {"networks.json", ""},
		"nodes":   {"nodes.json", "what is stuck cannot be told from it, since it lacks the nodes. On a manager, in the same folder, run\n\n" + makeNodes},
		"tasks":   {"tasks.json", "what is stuck cannot be told from it, since it lacks the tasks. On a manager, in the same folder, run\n\n" + makeTasks},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for name, content := range whole {
				if name != c.without {
					files[name] = content
				}
			}
			state, _ := read(t, folder(t, files))
			err := Need(state, "what is stuck", Nodes, Services, Tasks)
			if err == nil {
				err = errors.New("")
			} else if !errors.Is(err, ErrLacks) {
				t.Errorf("%v is no ErrLacks", err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	state, _ := read(t, folder(t, map[string]string{"nodes.json": content(t, "nodes.json")}))
	if err := Need(state, "what nodes have", Nodes); err != nil {
		t.Errorf("nodes are all that is needed: %v", err)
	}
}
