package dump

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/snapshot"
)

const recorded = "testdata/paused"

// folder writes files and returns where.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	path := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// linked writes a folder of symbolic links.
func linked(t testing.TB, targets map[string]string) string {
	t.Helper()
	path := t.TempDir()
	for name, target := range targets {
		target, err := filepath.Abs(target)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func content(t testing.TB, name string) string {
	t.Helper()
	read, err := os.ReadFile(filepath.Join(recorded, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(read)
}

func read(t *testing.T, path string) (*collector.State, time.Time) {
	t.Helper()
	state, now, err := Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return state, now
}

func gaps(s *collector.State) []string {
	var what []string
	for _, gap := range s.Gaps {
		what = append(what, gap.What)
	}
	slices.Sort(what)
	return what
}

func all(s *collector.State) []any {
	return []any{slices.Collect(s.Nodes()), slices.Collect(s.Services()), slices.Collect(s.Tasks()), slices.Collect(s.Networks())}
}

func TestARecordedFolderIsReadWhole(t *testing.T) {
	t.Parallel()
	state, now := read(t, recorded)
	if state.Source != "dump" || state.ClusterName != "default" || !state.AsOf.Equal(now) || len(state.Gaps) > 0 {
		t.Errorf("about %+v", state.About)
	}
	if want := time.Date(2026, 12, 1, 4, 24, 49, 381026241, time.UTC); !now.Equal(want) {
		t.Errorf("now is %v, the newest timestamp is %v", now, want)
	}
	web, versions := state.ServiceNamed("web"), map[string]uint64{}
	for task := range state.TasksOf(web.ID) {
		versions[task.Spec.GetContainer().Image] = task.SpecVersion.Index
	}
	if diff := cmp.Diff(map[string]uint64{"nope:2": web.SpecVersion.Index, "demo:1": web.PreviousSpecVersion.Index}, versions); diff != "" {
		t.Errorf("specs of the tasks by image:\n%s", diff)
	}
}

func TestOnlyDockerInfoTellsWhenADumpIsFrom(t *testing.T) {
	t.Parallel()
	files := map[string]string{"nodes.json": content(t, "nodes.json"), "info.json": content(t, "info.json")}
	if state, _ := read(t, folder(t, files)); !state.Undated {
		t.Error("without a SystemTime it is dated")
	}
	files["info.json"] = strings.Replace(files["info.json"], "{", `{"SystemTime":"2026-12-01T06:00:00.5+01:00",`, 1)
	state, now := read(t, folder(t, files))
	if want := time.Date(2026, 12, 1, 5, 0, 0, 5e8, time.UTC); state.Undated || !now.Equal(want) {
		t.Errorf("undated %t, now %v, want %v", state.Undated, now, want)
	}
}

func TestFilesAreToldApartByContent(t *testing.T) {
	t.Parallel()
	want, wantNow := read(t, recorded)
	compact := func(name string) string { // one object a line, as jq -c '.[]' writes
		var lines strings.Builder
		err := eachObject([]byte(content(t, name)), func(object []byte, _ int) error {
			lines.WriteString(strings.Join(strings.Fields(string(object)), " ") + "\n")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines.String()
	}
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	_, _ = packer.Write([]byte(content(t, "tasks.json")))
	_ = packer.Close()
	everything := content(t, "tasks.json") + content(t, "nodes.json") + "\n" + content(t, "services.json") + content(t, "networks.json") + content(t, "info.json")
	for name, path := range map[string]string{
		"other names": folder(t, map[string]string{
			"a.json": content(t, "nodes.json"), "b.json": content(t, "services.json"), "tasks": content(t, "networks.json"),
			"c.txt": content(t, "tasks.json"), "d.out": content(t, "info.json"),
		}),
		"a file with all of it": filepath.Join(folder(t, map[string]string{"dump": everything}), "dump"),
		"lines of objects": folder(t, map[string]string{
			"x.jsonl": compact("tasks.json") + compact("nodes.json"), "y.json": compact("services.json") + compact("networks.json") + compact("info.json"),
		}),
		"the same twice": folder(t, map[string]string{"x.json": everything, "y.json": everything}),
		"gzip": folder(t, map[string]string{
			"t.json.gz": packed.String(), "n.json": content(t, "nodes.json"), "s.json": content(t, "services.json") + content(t, "networks.json") + content(t, "info.json"),
		}),
		"a byte order mark": folder(t, map[string]string{"x.json": "\xef\xbb\xbf" + everything}),
		"links to files elsewhere": linked(t, map[string]string{"x.json": recorded + "/tasks.json", "y.json": recorded + "/nodes.json", "a.json": recorded + "/services.json",
			"n.json": recorded + "/networks.json", "i.json": recorded + "/info.json", "a-folder": "testdata"}),
		"beside other text": folder(t, map[string]string{
			"x.json": everything, "service-ps.txt": "web.1|node-1|Running", "dockerd.log": "[2026-12-01] started", "README": "# how", ".hidden.json": "{",
		}),
	} {
		state, now := read(t, path)
		if diff := cmp.Diff(all(want), all(state)); diff != "" || !now.Equal(wantNow) || len(state.Gaps) > 0 {
			t.Errorf("%s: now %v, gaps %v\n%s", name, now, state.Gaps, diff)
		}
	}
}

func TestTheLaterOfTwoVersionsCounts(t *testing.T) {
	t.Parallel()
	node := func(version, availability string) string {
		return `[{"ID":"n1","Version":{"Index":` + version + `},"Spec":{"Role":"worker","Availability":"` + availability + `"},"Description":{"Hostname":"a"}}]`
	}
	for _, files := range []map[string]string{
		{"a.json": node("9", "drain"), "b.json": node("10", "active")},
		{"a.json": node("10", "active"), "b.json": node("9", "drain")},
	} {
		state, _ := read(t, folder(t, files))
		if got := state.Node("n1").Spec.Availability.String(); got != "ACTIVE" {
			t.Errorf("availability %s", got)
		}
	}
}

func TestWhatIsMissingIsAGap(t *testing.T) {
	t.Parallel()
	const mountsCluster = `[{"ID":"s1","Spec":{"Name":"db","TaskTemplate":{"ContainerSpec":{"Mounts":[{"Type":"cluster"}]}}},"Endpoint":{"Spec":{}}}]`
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"only tasks", map[string]string{"t.json": content(t, "tasks.json")}, []string{"info", "networks", "nodes", "services"}},
		{"only nodes", map[string]string{"n.json": content(t, "nodes.json")}, []string{"info", "networks", "services", "tasks"}},
		{"commands that found nothing", map[string]string{
			"nodes.json": content(t, "nodes.json"), "services.json": "", "tasks.json": "[]\n", "networks.json": content(t, "networks.json"), "info.json": content(t, "info.json"),
		}, nil},
		{"a swarm without a service", map[string]string{
			"nodes.json": content(t, "nodes.json"), "services.json": "[]", "tasks.json": "", "networks.json": "[]", "info.json": content(t, "info.json"),
		}, nil},
		{"a swarm without a node", map[string]string{
			"nodes.json": "[]", "services.json": content(t, "services.json"), "tasks.json": content(t, "tasks.json"), "networks.json": "[]", "info.json": content(t, "info.json"),
		}, []string{"nodes"}},
		{"tasks of services that are not there", map[string]string{
			"nodes.json": content(t, "nodes.json"), "services.json": "", "tasks.json": content(t, "tasks.json"), "networks.json": "[]", "info.json": content(t, "info.json"),
		}, []string{"services.json"}},
		{"no task of a service that wants some", map[string]string{
			"nodes.json": content(t, "nodes.json"), "services.json": content(t, "services.json"), "tasks.json": "[]\n", "networks.json": "[]", "info.json": content(t, "info.json"),
		}, []string{"tasks.json"}},
		{"cluster volumes in use", map[string]string{"n.json": content(t, "nodes.json") + mountsCluster}, []string{"info", "networks", "tasks", "volumes"}},
		{"JSON of something else", map[string]string{
			"x.json":        content(t, "nodes.json") + content(t, "services.json") + content(t, "tasks.json") + content(t, "networks.json") + content(t, "info.json"),
			"expected.json": `{"service":"web"}`, "list.json": `["a", 1, null]`,
		}, []string{"files"}},
	} {
		state, _ := read(t, folder(t, c.files))
		if diff := cmp.Diff(c.want, gaps(state)); diff != "" {
			t.Errorf("%s: gaps\n%s", c.name, diff)
		}
		for _, gap := range state.Gaps {
			if gap.What == "files" && !strings.HasSuffix(gap.Why, "passed over in expected.json, list.json") {
				t.Errorf("%s: %s", c.name, gap.Why)
			}
		}
	}
}

func TestBrokenFilesAreNamedWithTheByte(t *testing.T) {
	t.Parallel()
	nodes := content(t, "nodes.json")
	for _, c := range []struct{ name, file, content, want string }{
		{"half JSON", "nodes.json", nodes[:len(nodes)/2], fmt.Sprintf("nodes.json: byte %d: the file ends in the middle of JSON", len(nodes)/2)},
		{"an array that is not closed", "a.json", `[{"a":1}`, "a.json: byte 8: the file ends in the middle of JSON"},
		{"a second array that is not closed", "a.json", "[]\n[{},", "a.json: byte 7: the file ends in the middle of JSON"},
		{"no JSON", "a.json", "No such node", "a.json: byte 0: not JSON: invalid character 'N' looking for beginning of value"},
		{"a broken object behind a good one", "a.json", `[{"a":1},{"b":x}]`, "a.json: byte 14: not JSON: invalid character 'x' looking for beginning of value"},
		{"a bracket too many", "a.json", `[{"a":1}]]`, "a.json: byte 9: not JSON: invalid character ']' looking for beginning of value"},
		{"another type", "a.json", `[{"a":1},{"ID":5,"Spec":{},"Description":{}}]`, "a.json: byte 9: read node: json: cannot unmarshal number into Go struct field Node.ID of type string"},
		{"no id", "a.json", `{"ID":"","Spec":{},"Description":{}}`, "a.json: byte 0: read node: it has no id"},
		{"a packed file cut short", "a.json.gz", "\x1f\x8b\x08\x00", "a.json.gz: unexpected EOF"},
	} {
		path := folder(t, map[string]string{c.file: c.content})
		for _, from := range []string{path, filepath.Join(path, c.file)} {
			_, _, err := Read(t.Context(), from)
			if err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%s: %v, want …%s", c.name, err, c.want)
			}
		}
	}
}

func TestWhatCannotBeUsedSaysWhatIsNeeded(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"an empty folder":    folder(t, nil),
		"other files":        folder(t, map[string]string{"README": "hello", "a.json": `{"a":1}`}),
		"docker info alone":  folder(t, map[string]string{"info.json": content(t, "info.json")}),
		"an empty object":    folder(t, map[string]string{"a.json": "{}"}),
		"a file with no use": filepath.Join(folder(t, map[string]string{"a.json": "[]"}), "a.json"),
	} {
		if _, _, err := Read(t.Context(), path); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "docker node, service, network and volume inspect") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := Read(t.Context(), linked(t, map[string]string{"tasks.json": "testdata/nowhere"})); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "tasks.json") {
		t.Errorf("a link to nothing: %v", err)
	}
	if _, _, err := Read(t.Context(), "testdata/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
}

func TestASnapshotOfOursIsReadAsOne(t *testing.T) {
	t.Parallel()
	state, now := read(t, recorded)
	var plain, packed bytes.Buffer
	if err := snapshot.Write(&plain, state, now); err != nil {
		t.Fatal(err)
	}
	packer := gzip.NewWriter(&packed)
	_, _ = packer.Write(plain.Bytes())
	_ = packer.Close()
	path := folder(t, map[string]string{"snap": plain.String(), "snap.gz": packed.String(), "later": `{"swarmdiag_snapshot":9}`})
	for _, name := range []string{"snap", "snap.gz"} {
		again, at := read(t, filepath.Join(path, name))
		if diff := cmp.Diff(all(state), all(again)); diff != "" || !at.Equal(now) {
			t.Errorf("%s: at %v\n%s", name, at, diff)
		}
	}
	if _, _, err := Read(t.Context(), filepath.Join(path, "later")); !errors.Is(err, snapshot.ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}

func TestADumpHasABound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(folder(t, map[string]string{"a": strings.Repeat("x", 100)}), "a")
	if _, err := load(t.Context(), path, 99); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
	if got, err := load(t.Context(), path, 100); err != nil || len(got) != 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// FuzzAdd: no content makes it panic, and what is taken becomes a state.
func FuzzAdd(f *testing.F) {
	for _, name := range []string{"nodes.json", "services.json", "tasks.json", "networks.json", "info.json"} {
		f.Add([]byte(content(f, name)), false)
	}
	f.Add([]byte("[2026] a log"), true)
	f.Add([]byte("[{},[]]\n{}{\"a\":"), false)
	f.Fuzz(func(_ *testing.T, content []byte, text bool) {
		found := newFindings()
		if found.add("a.json", content, text) == nil {
			_, _, _ = found.state("a.json")
		}
	})
}
