package analyzertest

import (
	"embed"
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

//go:embed defaults
var defaults embed.FS

// object is one object of docker inspect.
type object = map[string]any

// complete returns the files of a dump: those of the case, with what its objects leave out, and the networks and docker
// info that every swarm has.
func complete(t *testing.T, archive *txtar.Archive) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"networks.json": read(t, "networks.json"), "info.json": read(t, "info.json")}
	objects := map[string][]object{}
	for _, f := range archive.Files {
		if filepath.Ext(f.Name) != ".json" {
			continue
		}
		files[f.Name] = f.Data
		if kind, short := strings.CutSuffix(f.Name, "s.json"); short && (kind == "node" || kind == "service" || kind == "task") {
			objects[kind] = decode[[]object](t, f.Name, f.Data)
		}
	}
	for kind, all := range objects {
		standard := read(t, kind+".json")
		for i, o := range all {
			base := decode[object](t, kind, standard)
			if kind == "task" {
				base = merge(base, object{"Spec": templateOf(objects["service"], o["ServiceID"])})
			}
			all[i] = merge(base, o)
		}
		files[kind+"s.json"] = []byte(encode(t, all))
	}
	return files
}

// templateOf returns the spec that a service's tasks have.
func templateOf(services []object, id any) object {
	for _, s := range services {
		if s["ID"] != id {
			continue
		}
		if spec, ok := s["Spec"].(object); ok {
			if template, ok := spec["TaskTemplate"].(object); ok {
				return template
			}
		}
	}
	return object{}
}

// merge lays one object over another, field by field; null takes a field away.
func merge(base, over object) object {
	merged := maps.Clone(base)
	for field, value := range over {
		below, isBelow := merged[field].(object)
		above, isAbove := value.(object)
		switch {
		case value == nil:
			delete(merged, field)
		case isBelow && isAbove:
			merged[field] = merge(below, above)
		default:
			merged[field] = value
		}
	}
	return merged
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := defaults.ReadFile("defaults/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func decode[T any](t *testing.T, name string, content []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(content, &value); err != nil {
		t.Fatalf("decode %s: %v", name, err)
	}
	return value
}
