package remedy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = propose(filters.Volumes, useVolume)

// useVolume makes or activates cluster volumes, or puts the one that managers judge last among the mounts.
func useVolume(s *subject, g *group, _ filters.Reason) []proposal {
	var found []proposal
	refusals, skipped := s.cluster.VolumeRefusals(g.waiting.Task(), g.rows[0].Node)
	if skipped {
		found = s.sortMounts(g.waiting.Task())
	}
	for _, r := range refusals {
		if r.Volume == nil {
			found = append(found, s.createVolume(r.Source)...)
			continue
		}
		if r.Volume.Spec.Availability == api.VolumeAvailabilityActive {
			continue
		}
		found = append(found, activateVolume(r.Volume, g.waiting.Task()))
	}
	return found
}

// activateVolume takes a volume back into use. A running scheduler never sees a volume change
// (manager/scheduler.volumeSet.addOrUpdateVolume changes a copy). One that knows the volume as active chooses it, and is refused
// without a word when it writes that down (applySchedulingDecisions). Of one that has said why no node suits, that is not sure.
func activateVolume(v *api.Volume, t *api.Task) proposal {
	id := v.ID
	p := proposal{
		commands: []command{{"docker volume update", []string{"--availability active"}, v.Spec.Annotations.Name}},
		change:   func(d *Draft) { d.Volume(id).Spec.Availability = api.VolumeAvailabilityActive },
		note:     "somebody has taken this volume out of use: see that it may be used again",
	}
	if t.Status.Err != "" {
		p.change = nil
		p.note += "; the leader's scheduler may know it only as it was: if the task waits on, another manager has to lead"
	}
	return p
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

// createVolume makes a cluster volume that is missing, by each driver that nodes have. How large it has to be and what else its
// driver wants is not known, so that no copy can show it. One that is there waits for its driver, which no command hastens.
func (s *subject) createVolume(source string) []proposal {
	group, isGroup := strings.CutPrefix(source, "group:")
	for v := range s.state.Volumes() {
		if v.Spec.Annotations.Name == source || isGroup && v.Spec.Group == group {
			return nil
		}
	}
	flags := []string{"--type mount"}
	if s.Wanted > 1 {
		flags = append(flags, "--scope multi", "--sharing all")
	}
	name := source
	if isGroup {
		flags, name = append(flags, flag("--group", group)), group
	}
	var found []proposal
	for _, driver := range s.volumeDrivers() {
		found = append(found, proposal{
			commands: []command{{"docker volume create", slices.Concat([]string{flag("--driver", driver)}, flags), name}},
			note:     fmt.Sprintf("see first that %s is not only misspelt; its size (--required-bytes) and the driver's own options (--opt) may have to be given", source),
		})
	}
	return found
}

// volumeDrivers are the CSI drivers that nodes report, by name. One that volumes name without its tag is reported with it, too.
func (s *subject) volumeDrivers() []string {
	var drivers []string
	for _, n := range s.cluster.Nodes() {
		if n.Description == nil {
			continue
		}
		for _, csi := range n.Description.CSIInfo {
			drivers = append(drivers, strings.TrimSuffix(csi.PluginName, ":latest"))
		}
	}
	slices.Sort(drivers)
	return slices.Compact(drivers)
}
