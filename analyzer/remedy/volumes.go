package remedy

import (
	"cmp"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.Volumes, useVolume)

// useVolume activates cluster volumes, or puts the one that managers judge last among the mounts.
func useVolume(s *subject, g *group, _ filters.Reason) []proposal {
	var found []proposal
	refusals, skipped := s.cluster.VolumeRefusals(g.waiting.Task(), g.rows[0].Node)
	if skipped {
		found = s.sortMounts(g.waiting.Task())
	}
	for _, r := range refusals {
		if r.Volume == nil || r.Volume.Spec.Availability == api.VolumeAvailabilityActive {
			continue
		}
		id := r.Volume.ID
		found = append(found, proposal{
			commands: []command{{"docker volume update", []string{"--availability active"}, r.Volume.Spec.Annotations.Name}},
			change:   func(d *Draft) { d.Volume(id).Spec.Availability = api.VolumeAvailabilityActive },
			note:     "somebody has taken this volume out of use: see that it may be used again",
		})
	}
	return found
}

// sortMounts adds a cluster volume to the service again under the same target: docker service update then sorts all mounts
// by source and target (docker/cli cli/command/service.updateMounts), and managers before Docker 29.1 judge the last.
func (s *subject) sortMounts(t *api.Task) []proposal {
	mounts := slices.Clone(t.Spec.GetContainer().Mounts)
	slices.SortFunc(mounts, func(a, b api.Mount) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	})
	last := mounts[len(mounts)-1]
	if last.Type != api.MountTypeCluster {
		return nil
	}
	value := "type=cluster,source=" + last.Source + ",target=" + last.Target
	if last.ReadOnly {
		value += ",readonly"
	}
	p := s.updateService(func(spec *api.ServiceSpec) { spec.Task.GetContainer().Mounts = mounts }, flag("--mount-add", value))
	return noted(p, "managers before Docker 29.1 judge the last mount only: this sorts the mounts, so that the cluster volume is that")
}
