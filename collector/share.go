package collector

import (
	"reflect"

	"github.com/moby/swarmkit/v2/api"
)

// mostModels bounds how many models are remembered.
const mostModels = 1 << 14

// models are one task for each version of each service's spec. Tasks of the same version share with it what they have in
// common, most of all the spec, which is half of what is kept of a task.
type models map[specVersion]*api.Task

type specVersion struct {
	service string
	version uint64
}

// task copies what is kept of a task. Whether something is shared is decided by its content: a version may come to stand
// for another spec, as where a source makes versions up.
func (m models) task(t *api.Task) *api.Task {
	kept := keepTask(t)
	if t.ServiceID == "" || t.SpecVersion == nil {
		return kept.Copy()
	}
	key := specVersion{t.ServiceID, t.SpecVersion.Index}
	model := m[key]
	if model == nil || !reflect.DeepEqual(model.Spec, kept.Spec) {
		if len(m) >= mostModels {
			clear(m)
		}
		m[key] = kept.Copy()
		return m[key]
	}
	return copyLike(kept, model)
}

// copyLike copies a task whose spec is that of the model, which it shares, and what else is the same.
func copyLike(t, model *api.Task) *api.Task {
	own := *t
	own.Spec, own.Endpoint, own.Networks = api.TaskSpec{}, nil, nil
	c := own.Copy()
	c.Spec, c.SpecVersion, c.ServiceID = model.Spec, model.SpecVersion, model.ServiceID
	if c.ServiceAnnotations.Name == model.ServiceAnnotations.Name {
		c.ServiceAnnotations.Name = model.ServiceAnnotations.Name
	}
	if c.Endpoint = model.Endpoint; !reflect.DeepEqual(t.Endpoint, model.Endpoint) {
		c.Endpoint = t.Endpoint.Copy()
	}
	for i, attachment := range t.Networks {
		c.Networks = append(c.Networks, attachment.Copy())
		if i < len(model.Networks) && reflect.DeepEqual(attachment.Network, model.Networks[i].Network) {
			c.Networks[i].Network = model.Networks[i].Network
		}
	}
	return c
}
