package snapshot

import (
	"github.com/moby/swarmkit/v2/api"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/redact"
)

// These return copies whose free text, what people and programs write, has passed the redactor. Names, ids, image
// references, constraints and states stay as they are: the rules match on them.

func redactedNode(n *api.Node) *api.Node {
	n = n.Copy()
	redactLabels(n.Spec.Annotations.Labels)
	n.Status.Message = redact.Text(n.Status.Message)
	if d := n.Description; d != nil && d.Engine != nil {
		redactLabels(d.Engine.Labels)
	}
	return n
}

func redactedService(s *api.Service) *api.Service {
	s = s.Copy()
	redactServiceSpec(&s.Spec)
	if s.PreviousSpec != nil {
		redactServiceSpec(s.PreviousSpec)
	}
	if s.UpdateStatus != nil {
		s.UpdateStatus.Message = redact.Text(s.UpdateStatus.Message)
	}
	return s
}

func redactServiceSpec(s *api.ServiceSpec) {
	redactLabels(s.Annotations.Labels)
	redactTaskSpec(&s.Task)
}

func redactTaskSpec(t *api.TaskSpec) {
	if c := t.GetContainer(); c != nil {
		c.Image = redact.Text(c.Image)
		for i := range c.Mounts {
			c.Mounts[i].Source = redact.Text(c.Mounts[i].Source)
		}
	}
}

func redactedTask(t *api.Task) *api.Task {
	t = t.Copy()
	redactTaskSpec(&t.Spec)
	t.Status.Message, t.Status.Err = redact.Text(t.Status.Message), redact.Text(t.Status.Err)
	return t
}

func redactedVolume(v *api.Volume) *api.Volume {
	v = v.Copy()
	for _, p := range v.PublishStatus {
		p.Message = redact.Text(p.Message)
	}
	return v
}

func redactLabels(labels map[string]string) {
	for name, value := range labels {
		labels[name] = redact.Text(value)
	}
}

func redactedGaps(gaps []collector.Gap) []collector.Gap {
	var redacted []collector.Gap
	for _, g := range gaps {
		redacted = append(redacted, collector.Gap{What: g.What, Why: redact.Text(g.Why)})
	}
	return redacted
}
