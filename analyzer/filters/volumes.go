package filters

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/scheduler"

	"github.com/swarmdiag/swarmdiag/collector"
)

// volumeSet is the cluster volumes and who uses them (manager/scheduler.volumeSet, which is not exported).
type volumeSet struct {
	byName map[string]*api.Volume
	all    []*api.Volume
	users  map[string][]volumeUse // by volume id
	blind  bool                   // the source cannot list volumes
	// lastMountOnly is how managers before Docker 29.1 judge: VolumesFilter.SetTask keeps the address of its loop
	// variable, so that every requested volume becomes the last mount of the task, whatever its type.
	lastMountOnly bool
}

type volumeUse struct {
	task     *api.Task
	readOnly bool
}

const groupPrefix = "group:"

func newVolumeSet(state *collector.State, c *Cluster, gone func(*api.Task) bool) *volumeSet {
	vs := &volumeSet{byName: map[string]*api.Volume{}, users: map[string][]volumeUse{}, lastMountOnly: true}
	for v := range state.Volumes() {
		if v.VolumeInfo != nil && v.VolumeInfo.VolumeID != "" {
			vs.all = append(vs.all, v)
			vs.byName[v.Spec.Annotations.Name] = v
		}
	}
	vs.blind = slices.ContainsFunc(state.Gaps, func(g collector.Gap) bool { return g.What == "volumes" })
	for _, n := range c.nodes {
		if n.ManagerStatus != nil && n.ManagerStatus.Leader {
			vs.lastMountOnly = !fixedLoopVariable(n.Node)
		}
	}
	if len(vs.all) == 0 {
		return vs
	}
	// Tasks of nodes that were removed, too: their uses count as long as they are not orphaned.
	for t := range state.Tasks() {
		if t.NodeID != "" && holds(t) && !gone(t) {
			vs.use(t)
		}
	}
	return vs
}

// use books the volumes of a task (manager/scheduler.volumeSet.reserveTaskVolumes).
func (vs *volumeSet) use(t *api.Task) {
	for _, attached := range t.Volumes {
		for _, m := range mounts(t) {
			if m.Source == attached.Source && m.Target == attached.Target {
				vs.book(attached.ID, volumeUse{t, m.ReadOnly})
			}
		}
	}
}

// book notes a use; of two mounts of one volume in a task the last counts.
func (vs *volumeSet) book(volumeID string, use volumeUse) {
	others := slices.DeleteFunc(vs.users[volumeID], func(u volumeUse) bool { return u.task == use.task })
	vs.users[volumeID] = append(others, use)
}

// fixedLoopVariable tells whether the node's engine was built for Go 1.22 semantics of loop variables: Docker 29.1 and later.
func fixedLoopVariable(n *api.Node) bool {
	if n.Description == nil || n.Description.Engine == nil {
		return false
	}
	parts := strings.SplitN(n.Description.Engine.EngineVersion, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major > 29 || major == 29 && minor >= 1)
}

func (vs *volumeSet) judge(t *api.Task, n *Node) Verdict {
	wanted := vs.wanted(t)
	switch {
	case len(wanted) == 0:
		return Skip
	case vs.blind:
		return Unknown
	}
	if !vs.filterPasses(wanted, n) {
		return Fail
	}
	if t.NodeID != "" {
		if _, missing := vs.missing(t, n); missing {
			return Fail
		}
	}
	return Pass
}

// filterPasses is VolumesFilter.Check of manager/scheduler.
func (vs *volumeSet) filterPasses(wanted []api.Mount, n *Node) bool {
	return slices.ContainsFunc(wanted, func(m api.Mount) bool { return vs.choose(vs.candidates(m), m, n, nil) != nil })
}

// choose returns the first candidate for the mount that can be used beside what the task itself has chosen before, or nil.
func (vs *volumeSet) choose(candidates []*api.Volume, m api.Mount, n *Node, own map[string]volumeUse) *api.Volume {
	for _, v := range candidates {
		users := vs.users[v.ID]
		if use, ok := own[v.ID]; ok {
			users = append(slices.Clone(users), use)
		}
		if vs.refusal(v, n, m.ReadOnly, users) == "" {
			return v
		}
	}
	return nil
}

// missing returns the first cluster mount of the task that finds no volume on the node once those before it have theirs
// (manager/scheduler.volumeSet.chooseTaskVolumes). Preassigned tasks need all of them; others are assigned without. Of a
// group swarmkit takes any member and tries again later; here it is one that no other mount of the task names.
func (vs *volumeSet) missing(t *api.Task, n *Node) (mount api.Mount, found bool) {
	own, cluster := map[string]volumeUse{}, ClusterMounts(t)
	named := func(v *api.Volume) int { // -1 where it is not
		return slices.IndexFunc(cluster, func(m api.Mount) bool { return m.Source == v.Spec.Annotations.Name })
	}
	for _, m := range cluster {
		candidates := vs.candidates(m)
		slices.SortStableFunc(candidates, func(a, b *api.Volume) int { return cmp.Compare(named(a), named(b)) })
		v := vs.choose(candidates, m, n, own)
		if v == nil {
			return m, true
		}
		own[v.ID] = volumeUse{t, m.ReadOnly}
	}
	return api.Mount{}, false
}

// wanted returns the mounts that the managers judge: none where the task mounts no cluster volume.
func (vs *volumeSet) wanted(t *api.Task) []api.Mount {
	cluster := ClusterMounts(t)
	if len(cluster) > 0 && vs.lastMountOnly {
		all := mounts(t)
		return all[len(all)-1:]
	}
	return cluster
}

func (vs *volumeSet) candidates(m api.Mount) []*api.Volume {
	group, ok := strings.CutPrefix(m.Source, groupPrefix)
	if !ok {
		if v := vs.byName[m.Source]; v != nil {
			return []*api.Volume{v}
		}
		return nil
	}
	var members []*api.Volume
	for _, v := range vs.all {
		if v.Spec.Group == group {
			members = append(members, v)
		}
	}
	return members
}

// refusal tells why a volume cannot be used on the node, or "" where it can (manager/scheduler.volumeSet.checkVolume).
func (vs *volumeSet) refusal(v *api.Volume, n *Node, readOnly bool, users []volumeUse) string {
	if v.Spec.Availability != api.VolumeAvailabilityActive {
		return "availability is " + strings.ToLower(v.Spec.Availability.String())
	}
	mode := v.Spec.AccessMode
	if mode == nil {
		mode = &api.VolumeAccessMode{}
	}
	if mode.Scope == api.VolumeScopeSingleNode {
		for _, u := range users {
			if u.task.NodeID != n.ID {
				return fmt.Sprintf("scope is single and a task uses it on another node (%s)", u.task.ID)
			}
		}
	}
	switch mode.Sharing {
	case api.VolumeSharingNone:
		if len(users) > 0 {
			return fmt.Sprintf("sharing is none and a task uses it (%s)", users[0].task.ID)
		}
	case api.VolumeSharingOneWriter:
		for _, u := range users {
			if !readOnly && !u.readOnly {
				return fmt.Sprintf("sharing is onewriter and a task writes to it (%s)", u.task.ID)
			}
		}
	case api.VolumeSharingReadOnly:
		if !readOnly {
			return "sharing is readonly and the mount is not"
		}
	}
	if !scheduler.IsInTopology(nodeTopology(v, n), v.VolumeInfo.AccessibleTopology) {
		return "the node is not in the volume's accessible topology"
	}
	return ""
}

func nodeTopology(v *api.Volume, n *Node) *api.Topology {
	if n.Description == nil || v.Spec.Driver == nil {
		return nil
	}
	for _, csi := range n.Description.CSIInfo {
		if csi.PluginName == v.Spec.Driver.Name {
			return csi.AccessibleTopology
		}
	}
	return nil
}

func mounts(t *api.Task) []api.Mount {
	if c := t.Spec.GetContainer(); c != nil {
		return c.Mounts
	}
	return nil
}

// ClusterMounts returns the mounts of a task that are cluster volumes.
func ClusterMounts(t *api.Task) []api.Mount {
	var cluster []api.Mount
	for _, m := range mounts(t) {
		if m.Type == api.MountTypeCluster {
			cluster = append(cluster, m)
		}
	}
	return cluster
}

// VolumeRefusal is why one mount of a task finds no volume on a node.
type VolumeRefusal struct {
	// Source is the mount's: a volume's name, or group: and a group's.
	Source string
	// Volume is the candidate, nil where no created volume has that name or group.
	Volume *api.Volume
	// Why the candidate is refused on the node; empty where it is not.
	Why string
}

// VolumeRefusals tells for every cluster volume that the task mounts how the node sees each candidate.
// skipped is true where the managers look at another mount than these: the last of the task.
func (c *Cluster) VolumeRefusals(t *api.Task, n *Node) (refusals []VolumeRefusal, skipped bool) {
	for _, m := range ClusterMounts(t) {
		candidates := c.volumes.candidates(m)
		if len(candidates) == 0 {
			refusals = append(refusals, VolumeRefusal{Source: m.Source})
		}
		for _, v := range candidates {
			refusals = append(refusals, VolumeRefusal{m.Source, v, c.volumes.refusal(v, n, m.ReadOnly, c.volumes.users[v.ID])})
		}
	}
	all := mounts(t)
	return refusals, c.volumes.lastMountOnly && len(refusals) > 0 && all[len(all)-1].Type != api.MountTypeCluster
}
