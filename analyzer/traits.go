package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/api/genericresource"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// trait is one thing that a spec asks for, in words. Of what a spec has many (environment, constraints, mounts) each is a
// trait of its own name.
type trait struct{ name, value string }

// none is the value of an amount that is not asked for.
const none = "none"

// traits lists what an interpolated spec asks for, in an order that is always the same.
func traits(s *api.ServiceSpec) []trait {
	all := []trait{{"name", s.Annotations.Name}}
	all = append(all, containerTraits(s.Task.GetContainer())...)
	all = append(all, modeTraits(s)...)
	all = append(all, resourceTraits("reservation", s.Task.Resources.Reservations)...)
	all = append(all, resourceTraits("limit", s.Task.Resources.Limits)...)
	all = append(all, placementTraits(s.Task.Placement)...)
	for _, network := range slices.Concat(s.Networks, s.Task.Networks) {
		all = append(all, trait{"network " + network.Target, ""})
	}
	all = append(all, endpointTraits(s.Endpoint)...)
	if driver := s.Task.LogDriver; driver != nil {
		all = append(all, trait{"log driver " + driver.Name, ""})
	}
	restart := s.Task.Restart
	all = append(all,
		trait{"restart condition", word(restart.Condition.String())},
		trait{"restart delay", duration(restart.Delay, nil).String()},
		trait{"restart max attempts", strconv.FormatUint(restart.MaxAttempts, 10)},
		trait{"restart window", duration(restart.Window, nil).String()},
		trait{"update order", word(s.Update.Order.String())},
		trait{"update parallelism", strconv.FormatUint(s.Update.Parallelism, 10)},
		trait{"update delay", s.Update.Delay.String()},
		trait{"update failure action", word(s.Update.FailureAction.String())},
		trait{"update monitor", duration(s.Update.Monitor, nil).String()},
		trait{"update max failure ratio", strconv.FormatFloat(float64(s.Update.MaxFailureRatio), 'g', 4, 32)},
		trait{"forced updates", strconv.FormatUint(s.Task.ForceUpdate, 10)},
	)
	for _, label := range slices.Sorted(maps.Keys(s.Annotations.Labels)) {
		all = append(all, trait{"label " + label, s.Annotations.Labels[label]})
	}
	return all
}

// word writes one of swarmkit's constants as docker spells it: "STOP_FIRST" is "stop-first".
func word(constant string) string {
	return strings.ReplaceAll(strings.ToLower(constant), "_", "-")
}

func containerTraits(c *api.ContainerSpec) []trait {
	if c == nil {
		return nil
	}
	all := []trait{
		{"image", c.Image},
		{"command", strings.Join(c.Command, " ")},
		{"arguments", strings.Join(c.Args, " ")},
		{"stop grace period", duration(c.StopGracePeriod, nil).String()},
		{"health check", healthTrait(c.Healthcheck)},
	}
	for _, variable := range c.Env {
		name, value, _ := strings.Cut(variable, "=")
		all = append(all, trait{"environment " + name, value})
	}
	for _, m := range c.Mounts {
		all = append(all, trait{"mount " + m.Target, mountTrait(m)})
	}
	return all
}

func healthTrait(h *api.HealthConfig) string {
	if h == nil {
		return "as the image has it"
	}
	return fmt.Sprintf("%s (interval %s, timeout %s, retries %d, start period %s)", strings.Join(h.Test, " "),
		duration(h.Interval, nil), duration(h.Timeout, nil), h.Retries, duration(h.StartPeriod, nil))
}

func mountTrait(m api.Mount) string {
	words := []string{word(m.Type.String())}
	if m.Source != "" {
		words = append(words, m.Source)
	}
	if m.VolumeOptions != nil && m.VolumeOptions.DriverConfig != nil && m.VolumeOptions.DriverConfig.Name != "" {
		words = append(words, "driver "+m.VolumeOptions.DriverConfig.Name)
	}
	if m.ReadOnly {
		words = append(words, "read-only")
	}
	return strings.Join(words, " ")
}

func modeTraits(s *api.ServiceSpec) []trait {
	if replicated := s.GetReplicated(); replicated != nil {
		return []trait{{"replicas", strconv.FormatUint(replicated.Replicas, 10)}}
	}
	if job := s.GetReplicatedJob(); job != nil {
		return []trait{
			{"completions", strconv.FormatUint(job.TotalCompletions, 10)},
			{"concurrent tasks", strconv.FormatUint(job.MaxConcurrent, 10)},
		}
	}
	return nil
}

func resourceTraits(kind string, r *api.Resources) []trait {
	memory, cpu := none, none
	if r != nil && r.MemoryBytes != 0 {
		memory = strings.TrimSuffix(amount(filters.Memory, float64(r.MemoryBytes)), " of memory")
	}
	if r != nil && r.NanoCPUs != 0 {
		cpu = strconv.FormatFloat(float64(r.NanoCPUs)/1e9, 'f', -1, 64)
	}
	all := []trait{{kind + " memory", memory}, {kind + " cpu", cpu}}
	if r == nil {
		return all
	}
	for _, generic := range r.Generic {
		value := generic.GetNamedResourceSpec().String()
		if discrete := generic.GetDiscreteResourceSpec(); discrete != nil {
			value = strconv.FormatInt(discrete.Value, 10)
		}
		all = append(all, trait{kind + " " + genericresource.Kind(generic), value})
	}
	return all
}

func placementTraits(p *api.Placement) []trait {
	limit := none
	if p.MaxReplicas != 0 {
		limit = strconv.FormatUint(p.MaxReplicas, 10)
	}
	all := []trait{{"max replicas per node", limit}}
	for _, expression := range p.Constraints {
		all = append(all, trait{"constraint " + expression, ""})
	}
	for _, preference := range p.Preferences {
		if spread := preference.GetSpread(); spread != nil {
			all = append(all, trait{"placement preference spread=" + spread.SpreadDescriptor, ""})
		}
	}
	for _, platform := range p.Platforms {
		all = append(all, trait{"platform " + platform.OS + "/" + platform.Architecture, ""})
	}
	return all
}

func endpointTraits(e *api.EndpointSpec) []trait {
	if e == nil {
		return []trait{{"endpoint mode", word(api.ResolutionModeVirtualIP.String())}}
	}
	all := []trait{{"endpoint mode", word(e.Mode.String())}}
	for _, p := range e.Ports {
		published := strconv.FormatUint(uint64(p.PublishedPort), 10)
		if p.PublishedPort == 0 {
			published = "of Swarm's choice for " + strconv.FormatUint(uint64(p.TargetPort), 10)
		}
		all = append(all, trait{
			fmt.Sprintf("published port %s/%s", published, word(p.Protocol.String())),
			fmt.Sprintf("%s mode to %d", word(p.PublishMode.String()), p.TargetPort),
		})
	}
	return all
}
