package analyzer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var _ = register(&Rule{
	Cause:     "cluster-volume-unavailable",
	Component: Scheduler,
	Title:     "no eligible node can use the cluster (CSI) volume",
	Doc: `The task mounts a cluster volume that does not exist, is not created yet by its driver, is paused or drained, is in use in a way that
its access mode does not share, or cannot be reached from the nodes. Managers before Docker 29.1 look only at the last mount
of a task, whatever its type. Those from Docker 26.1 to 28.1 create no cluster volume, whatever its driver (moby/moby#48133).

Make the volume (docker volume create --driver DRIVER --type mount NAME; where no node reports a CSI driver, install one first),
activate it (docker volume update --availability active), install its driver or wait for it to create the volume, stop the task that uses it,
or make the cluster volume the last mount of the service.`,
	Infers:  []string{"volumes"},
	Rejects: rejectedBy(filters.Volumes),
	Reads:   everything,
	Explain: explainVolumes,
	Why:     whyVolumes,
})

func explainVolumes(w *Waiting, _ filters.Reason) Finding {
	if w.Nearest.Verdicts[filters.Volumes] == filters.Unknown {
		return explainUnseenVolumes(w)
	}
	refusals, skipped := w.Pass.Cluster.VolumeRefusals(w.Task(), w.Nearest.Node)
	finding := Finding{}
	var why []string
	for _, r := range refusals {
		evidence, volume := Evidence{What: "volume", Wanted: r.Source, Node: w.Nearest.Node.Name, Hint: r.Why}, r.Volume
		if volume == nil {
			evidence.Hint, volume = notCreated(w.Pass, r.Source)
			if volume == nil && !slices.ContainsFunc(w.Pass.Cluster.Nodes(), reportsDriver) {
				evidence.Hint += ", and no node reports a CSI driver that could make one"
			} else if volume != nil {
				evidence.Hint += w.Pass.whyNotCreated(volume)
			}
		}
		if evidence.Hint != "" {
			why = append(why, fmt.Sprintf("%s: %s", r.Source, evidence.Hint))
			if volume != nil {
				finding.Check = append(finding.Check, volumeCheck(volume))
			}
		}
		finding.Evidence = append(finding.Evidence, evidence)
	}
	if len(finding.Check) == 0 {
		finding.Check = []Check{mountCheck(w)}
	}
	if skipped {
		why = append(why, "this swarm's managers look only at the last mount of a task, and that is no cluster volume")
	}
	finding.Summary = "no eligible node can use its cluster volume: " + strings.Join(why, "; ")
	return finding
}

// explainUnseenVolumes goes by Docker's word alone.
func explainUnseenVolumes(w *Waiting) Finding {
	finding := Finding{Check: []Check{mountCheck(w)}}
	var names []string
	for _, m := range filters.ClusterMounts(w.Task()) {
		names = append(names, m.Source)
		finding.Evidence = append(finding.Evidence, Evidence{What: "volume", Wanted: m.Source, Hint: "which cluster volumes there are could not be seen"})
	}
	finding.Summary = fmt.Sprintf("Docker finds no node that can use its cluster volume (%s), and the volumes could not be seen", list(names))
	return finding
}

// volumeCheck shows what refuses a volume: that it is not created, its availability, or how it may be shared.
func volumeCheck(v *api.Volume) Check {
	created := v.VolumeInfo != nil && v.VolumeInfo.VolumeID != ""
	if mode := v.Spec.AccessMode; created && v.Spec.Availability == api.VolumeAvailabilityActive && mode != nil {
		scopes := map[api.VolumeAccessMode_Scope]string{api.VolumeScopeSingleNode: "single", api.VolumeScopeMultiNode: "multi"}
		return Check{
			Command: "docker volume inspect -f '{{.ClusterVolume.Spec.AccessMode.Scope}} {{.ClusterVolume.Spec.AccessMode.Sharing}}' " + quote(volumeName(v)),
			Shows:   scopes[mode.Scope] + " " + strings.ReplaceAll(strings.ToLower(mode.Sharing.String()), "_", ""),
		}
	}
	availability := strings.ToLower(v.Spec.Availability.String())
	if !created {
		return Check{
			Command: "docker volume inspect -f '{{.ClusterVolume.Spec.Availability}}{{with .ClusterVolume.Info}} {{.VolumeID}}{{end}}' " + quote(volumeName(v)),
			Shows:   availability,
		}
	}
	return Check{
		Command: "docker volume inspect -f '{{.ClusterVolume.Spec.Availability}}' " + quote(volumeName(v)),
		Shows:   availability,
	}
}

// mountCheck shows which mounts the service asks for.
func mountCheck(w *Waiting) Check {
	var mounts []string
	for _, m := range w.Task().Spec.GetContainer().Mounts {
		mounts = append(mounts, strings.ToLower(m.Type.String())+" "+m.Source)
	}
	return Check{
		Command: "docker service inspect -f '{{range .Spec.TaskTemplate.ContainerSpec.Mounts}}{{.Type}} {{.Source}} {{end}}' " + w.serviceRef(),
		Shows:   strings.Join(mounts, " "),
	}
}

// notCreated tells what is known of a volume or group that the scheduler does not see, and which volume that is.
func notCreated(p *Pass, source string) (why string, volume *api.Volume) {
	group, isGroup := strings.CutPrefix(source, "group:")
	for v := range p.State.Volumes() {
		if isGroup && v.Spec.Group != group || !isGroup && volumeName(v) != source {
			continue
		}
		why = fmt.Sprintf("its driver %s has not created it yet", driverOf(v))
		if v.Spec.Availability != api.VolumeAvailabilityActive {
			why += ", and its availability is " + strings.ToLower(v.Spec.Availability.String())
		}
		return why, v
	}
	if isGroup {
		return "no cluster volume is in this group", nil
	}
	return "no cluster volume has this name", nil
}

// whyNotCreated tells what keeps a driver from creating a volume, as far as it is known; "" where nothing is.
func (p *Pass) whyNotCreated(v *api.Volume) string {
	leader := p.leaderRelease()
	switch {
	case createsNoVolume(leader):
		return fmt.Sprintf("; leaders from Docker 26.1 to 28.1 have no driver create one (moby/moby#48133), and this one has %s", leader)
	case !slices.ContainsFunc(p.Cluster.Nodes(), func(n *filters.Node) bool { return hasDriver(n, driverOf(v)) }):
		return "; no node reports this driver"
	}
	return ""
}

func driverOf(v *api.Volume) string {
	if v.Spec.Driver == nil {
		return ""
	}
	return v.Spec.Driver.Name
}

// hasDriver tells whether a node has a CSI driver, or that part of it which creates volumes. Docker takes a plugin's name without
// a tag for the latest.
func hasDriver(n *filters.Node, driver string) bool {
	is := func(name string) bool {
		return strings.TrimSuffix(name, ":latest") == strings.TrimSuffix(driver, ":latest")
	}
	if n.Description == nil {
		return false
	}
	return slices.ContainsFunc(n.Description.CSIInfo, func(csi *api.NodeCSIInfo) bool { return is(csi.PluginName) }) ||
		n.Description.Engine != nil && slices.ContainsFunc(n.Description.Engine.Plugins, func(plugin api.PluginDescription) bool {
			return strings.HasPrefix(plugin.Type, "csi") && is(plugin.Name)
		})
}

// reportsDriver tells whether a node has a CSI driver.
func reportsDriver(n *filters.Node) bool {
	return n.Description != nil && len(n.Description.CSIInfo) > 0
}

func whyVolumes(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	return whyEach(rows, func(row filters.Row) []string {
		var why []string
		refusals, _ := w.Pass.Cluster.VolumeRefusals(w.Task(), row.Node)
		for _, r := range refusals {
			switch {
			case r.Volume == nil:
				missing, _ := notCreated(w.Pass, r.Source)
				why = append(why, fmt.Sprintf("%s: %s: %s", row.Node.Name, r.Source, missing))
			case r.Why != "":
				why = append(why, fmt.Sprintf("%s: %s: %s", row.Node.Name, volumeName(r.Volume), r.Why))
			}
		}
		return why
	})
}

func volumeName(v *api.Volume) string { return v.Spec.Annotations.Name }
