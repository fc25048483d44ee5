package collector

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

// allowed are the paths of all text that is kept, with what its value is good for. Whoever adds one says why it is no
// secret.
var allowed = []string{}

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
				for _, part := range strings.Split(text, marker) {
					if part = strings.TrimSuffix(part, "="); part != "" {
						found[part] = true
					}
				}
			})
		}
	}
	var kept []string
	for path := range found {
		kept = append(kept, path)
	}
	slices.Sort(kept)
	if diff := cmp.Diff(allowed, kept); diff != "" {
		t.Errorf("kept text (-allowed +kept):\n%s", diff)
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
