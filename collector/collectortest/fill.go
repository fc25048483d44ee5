// Package collectortest makes swarmkit objects for the tests of whatever reads them.
package collectortest

import (
	"reflect"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
)

// Variants is how many different fillings it takes to have seen every kind of thing in every field.
const Variants = 3

// oneofs lists what can stand in the fields that hold one of several things, by the name of the field's type.
var oneofs = map[string][]any{
	"isTaskSpec_Runtime":                 {&api.TaskSpec_Container{}, &api.TaskSpec_Attachment{}, &api.TaskSpec_Generic{}},
	"isServiceSpec_Mode":                 {&api.ServiceSpec_Replicated{}, &api.ServiceSpec_Global{}, &api.ServiceSpec_ReplicatedJob{}},
	"isTaskStatus_RuntimeStatus":         {&api.TaskStatus_Container{}},
	"isGenericResource_Resource":         {&api.GenericResource_NamedResourceSpec{}, &api.GenericResource_DiscreteResourceSpec{}},
	"isPlacementPreference_Preference":   {&api.PlacementPreference_Spread{}},
	"isSecretReference_Target":           {&api.SecretReference_File{}},
	"isConfigReference_Target":           {&api.ConfigReference_File{}, &api.ConfigReference_Runtime{}},
	"isPrivileges_CredentialSpec_Source": {&api.Privileges_CredentialSpec_File{}, &api.Privileges_CredentialSpec_Registry{}, &api.Privileges_CredentialSpec_Config{}},
	"isNetworkSpec_ConfigFrom":           {&api.NetworkSpec_Network{}},
	"isVolumeAccessMode_AccessType":      {&api.VolumeAccessMode_Block{}, &api.VolumeAccessMode_Mount{}},
}

// Filled returns an object with something in every field, down to the last: text made of the path that leads to it
// ("Task.Spec.Placement.Constraints"), valid enumerations, other numbers that are not zero. Keys and values of maps have
// ".key" and ".value" behind their path. It panics where a field holds what it does not know.
func Filled[T any](variant int, text func(path string) string) *T {
	object := new(T)
	f := filler{variant: variant, text: text}
	f.fill(reflect.ValueOf(object).Elem(), reflect.TypeFor[T]().Name())
	return object
}

type filler struct {
	variant int
	text    func(path string) string
}

func (f filler) fill(v reflect.Value, path string) {
	switch v.Interface().(type) {
	case gogotypes.Timestamp:
		v.Set(reflect.ValueOf(gogotypes.Timestamp{Seconds: 1772366400, Nanos: 7}))
		return
	case gogotypes.Duration:
		v.Set(reflect.ValueOf(*gogotypes.DurationProto(3 * time.Second)))
		return
	case api.TaskState:
		v.Set(reflect.ValueOf(api.TaskStateRunning))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path)
	case reflect.Interface:
		kinds := oneofs[v.Type().Name()]
		if len(kinds) == 0 {
			panic("nothing is known for " + path + ", a " + v.Type().Name())
		}
		kind := reflect.New(reflect.TypeOf(kinds[f.variant%len(kinds)]).Elem())
		f.fill(kind.Elem(), path)
		v.Set(kind)
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(f.text(path)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), path)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, path+".key")
		f.fill(value, path+".value")
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(f.text(path))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(1) // the second of every enumeration
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(7)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(0.5)
	default:
		panic("nothing is known for " + path + ", a " + v.Type().String())
	}
}
