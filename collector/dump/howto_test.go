package dump

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeDocker answers the commands of HowTo, and no others, from the recorded files; without services where EMPTY is set.
const fakeDocker = `#!/bin/sh
case "$*" in
"node ls -q") echo n1; echo n2 ;;
"service ls -q") [ -n "$EMPTY" ] || echo s1 ;;
"service ps -q --no-trunc s1"|"node ps -q --no-trunc n1 n2") [ -n "$EMPTY" ] || { echo t1; echo t2; } ;;
"network ls -q --no-trunc --filter scope=swarm") echo net1 ;;
"volume ls -q") ;;
"node inspect n1 n2") cat "$RECORDED/nodes.json" ;;
"service inspect s1") cat "$RECORDED/services.json" ;;
"inspect --type task t1 t2") cat "$RECORDED/tasks.json" ;;
"network inspect net1") cat "$RECORDED/networks.json" ;;
"info --format {{json .}}") cat "$RECORDED/info.json" ;;
*) echo "unknown: docker $*" >&2; exit 125 ;;
esac
`

func TestTheShellLinesMakeAFolderThatIsRead(t *testing.T) {
	t.Parallel()
	from, err := filepath.Abs(recorded)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := read(t, recorded)
	for _, empty := range []string{"", "yes"} {
		path := folder(t, map[string]string{"docker": fakeDocker})
		if err := os.Chmod(filepath.Join(path, "docker"), 0o700); err != nil {
			t.Fatal(err)
		}
		shell := exec.CommandContext(t.Context(), "sh", "-euc", HowTo)
		shell.Dir = path
		shell.Env = append(os.Environ(), "PATH="+path+":"+os.Getenv("PATH"), "RECORDED="+from, "EMPTY="+empty)
		if out, err := shell.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		state, _ := read(t, filepath.Join(path, "swarm-dump"))
		if len(state.Gaps) > 0 {
			t.Errorf("empty %q: gaps %v", empty, state.Gaps)
		}
		if diff := cmp.Diff(all(want), all(state)); empty == "" && diff != "" {
			t.Error(diff)
		}
	}
}
