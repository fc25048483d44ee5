package oracle

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"
	"pgregory.net/rapid"
)

// drawVolume draws a cluster volume. Group solo has one member at most.
func drawVolume(t *rapid.T, i int) *api.Volume {
	groups := []string{"", "fast", "fast"}
	if i == 0 {
		groups = append(groups, "solo", "solo")
	}
	v := &api.Volume{
		ID:   fmt.Sprintf("volume-%d", i),
		Meta: api.Meta{CreatedAt: minutesAgo(900), UpdatedAt: minutesAgo(800)},
		Spec: api.VolumeSpec{
			Annotations: api.Annotations{Name: fmt.Sprintf("data-%d", i)},
			Group:       pick(t, "group", groups...),
			Driver:      &api.Driver{Name: pick(t, "driver", "csi", "csi", "other", "unknown")},
			AccessMode: &api.VolumeAccessMode{
				Scope:   pick(t, "scope", api.VolumeScopeMultiNode, api.VolumeScopeSingleNode),
				Sharing: pick(t, "sharing", api.VolumeSharingAll, api.VolumeSharingNone, api.VolumeSharingReadOnly, api.VolumeSharingOneWriter),
			},
		},
	}
	if oneIn(t, "not available", 5) {
		v.Spec.Availability = pick(t, "volume availability", api.VolumeAvailabilityPause, api.VolumeAvailabilityDrain)
	}
	if oneIn(t, "not created", 6) {
		return v
	}
	v.VolumeInfo = &api.VolumeInfo{VolumeID: pick(t, "volume id", "csi-1", "csi-2", "csi-3", "")}
	for range rapid.IntRange(0, 2).Draw(t, "topologies") {
		if topology := drawTopology(t); topology != nil {
			v.VolumeInfo.AccessibleTopology = append(v.VolumeInfo.AccessibleTopology, topology)
		}
	}
	return v
}

// drawMounts draws mounts of every type. A source can name a volume whatever the mount's type.
func drawMounts(t *rapid.T) []api.Mount {
	sources := []string{"data-0", "data-1", "data-2", "data-0", "group:solo", "group:none", "DATA-0", ""}
	number := rapid.IntRange(1, 3).Draw(t, "mounts")
	if number == 1 {
		sources = append(sources, "group:fast", "group:fast", "group:")
	}
	var mounts []api.Mount
	for i := range number {
		m := api.Mount{
			Type:     pick(t, "mount type", api.MountTypeCluster, api.MountTypeCluster, api.MountTypeVolume, api.MountTypeBind, api.MountTypeTmpfs),
			Source:   pick(t, "source", sources...),
			Target:   fmt.Sprintf("/m%d", i),
			ReadOnly: rapid.Bool().Draw(t, "read-only"),
		}
		if m.Type == api.MountTypeVolume && !oneIn(t, "no options", 4) {
			m.VolumeOptions = &api.Mount_VolumeOptions{}
			if driver := pick(t, "volume driver", "none", "", "local", "rexray", "nfs", "nfs"); driver != "none" {
				m.VolumeOptions.DriverConfig = &api.Driver{Name: driver}
			}
		}
		mounts = append(mounts, m)
	}
	return mounts
}

// drawAttached draws which volumes an assigned task was given: for a cluster mount any, or none.
func (c *Cluster) drawAttached(t *rapid.T, mounts []api.Mount) []*api.VolumeAttachment {
	var attached []*api.VolumeAttachment
	for _, m := range mounts {
		if m.Type == api.MountTypeCluster && len(c.Volumes) > 0 && !oneIn(t, "without volume", 4) {
			attached = append(attached, &api.VolumeAttachment{ID: pick(t, "attached", c.Volumes...).ID, Source: m.Source, Target: m.Target})
		}
	}
	return attached
}
