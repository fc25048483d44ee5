package analyzer

import (
	"fmt"
	"strings"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

var clusterVolumeUnavailable = register(&Rule{
	Cause:     "cluster-volume-unavailable",
	Component: Scheduler,
	Title:     "no eligible node can use the cluster (CSI) volume",
	Doc: `The task mounts a cluster volume that does not exist, is not created yet by its driver, is paused or drained, is in use in a way that
its access mode does not share, or cannot be reached from the nodes. Managers before Docker 29.1 look only at the last mount
of a task, whatever its type.

Activate the volume (docker volume update --availability active), wait for its driver to create it, stop the task that uses it,
or make the cluster volume the last mount of the service.`,
	Rejects: rejectedBy(filters.Volumes),
	Explain: explainVolumes,
	Why:     whyVolumes,
})

func explainVolumes(w *Waiting, _ filters.Reason) Finding {
	refusals, skipped := w.Pass.Cluster.VolumeRefusals(w.Task(), w.Nearest.Node)
	finding := Finding{}
	var why []string
	for _, r := range refusals {
		evidence := Evidence{What: "volume", Wanted: r.Source, Node: w.Nearest.Node.Name, Hint: r.Why}
		if r.Volume == nil {
			evidence.Hint = notCreated(w.Pass, r.Source)
		} else {
			finding.Check = append(finding.Check, Check{
				Command: "docker volume inspect -f '{{.ClusterVolume.Spec.Availability}}' " + quote(r.Volume.Spec.Annotations.Name),
				Shows:   strings.ToLower(r.Volume.Spec.Availability.String()),
			})
		}
		if evidence.Hint != "" {
			why = append(why, fmt.Sprintf("%s: %s", r.Source, evidence.Hint))
		}
		finding.Evidence = append(finding.Evidence, evidence)
	}
	if skipped {
		why = append(why, "this swarm's managers look only at the last mount of a task, and that is no cluster volume")
	}
	finding.Summary = "no eligible node can use its cluster volume: " + strings.Join(why, "; ")
	return finding
}

// notCreated tells what is known of a volume or group that the scheduler does not see.
func notCreated(p *Pass, source string) string {
	group, isGroup := strings.CutPrefix(source, "group:")
	for v := range p.State.Volumes() {
		if !isGroup && v.Spec.Annotations.Name == source || isGroup && v.Spec.Group == group {
			return "its driver has not created it yet"
		}
	}
	if isGroup {
		return "no cluster volume is in this group"
	}
	return "no cluster volume has this name"
}

func whyVolumes(w *Waiting, _ filters.Reason, rows []filters.Row) []string {
	var why []string
	for _, row := range rows {
		refusals, _ := w.Pass.Cluster.VolumeRefusals(w.Task(), row.Node)
		for _, r := range refusals {
			switch {
			case r.Volume == nil:
				why = append(why, fmt.Sprintf("%s: %s: %s", row.Node.Name, r.Source, notCreated(w.Pass, r.Source)))
			case r.Why != "":
				why = append(why, fmt.Sprintf("%s: %s: %s", row.Node.Name, volumeName(r.Volume), r.Why))
			}
		}
	}
	return firstOf(why)
}

func volumeName(v *api.Volume) string { return v.Spec.Annotations.Name }
