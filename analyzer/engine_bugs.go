package analyzer

import (
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/versions"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// leaderRelease is the release of the leader's engine without what a distribution adds to it ("20.10.24" of "20.10.24+dfsg1");
// empty where it is not known, or none that has swarm mode.
func (p *Pass) leaderRelease() string {
	for _, n := range p.Cluster.Nodes() {
		if n.ManagerStatus != nil && n.ManagerStatus.Leader && n.Description != nil && n.Description.Engine != nil {
			return release(n.Description.Engine.EngineVersion)
		}
	}
	return ""
}

func release(version string) string {
	if end := strings.IndexFunc(version, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		version = version[:end]
	}
	if version == "" || versions.LessThan(version, "1.12") {
		return ""
	}
	return version
}

// isWithin tells whether a release is known, not before the first and before the other; an empty one is no bound.
func isWithin(release, first, fixed string) bool {
	return release != "" && (first == "" || !versions.LessThan(release, first)) && (fixed == "" || versions.LessThan(release, fixed))
}

// forgets tells of releases whose scheduler does not look again when a task is removed (moby/swarmkit#2164 mended it).
func forgets(release string) bool { return isWithin(release, "", "17.06") }

// abandons tells of releases whose scheduler looks no more at a task once its service was updated, with or without need to
// make that task anew: since moby/swarmkit#2998, which moby/moby#42060 brought.
func abandons(release string) bool { return isWithin(release, "20.10.4", "") }

// leaderAbandons tells whether the leader's scheduler gives such tasks up; one of an unknown release is taken to.
func (p *Pass) leaderAbandons() bool {
	leader := p.leaderRelease()
	return leader == "" || abandons(leader)
}

// loops tells of releases whose scheduler can loop for ever over placement preferences, which came with 17.04
// (moby/swarmkit#3200 mended it, in moby/moby#50211 and #50203).
func loops(release string) bool {
	return isWithin(release, "17.04", "25.0.12") || isWithin(release, "26.0", "28.3")
}

// keepsVolumes tells of releases whose scheduler never sees a cluster volume change: all that have such volumes
// (manager/scheduler.volumeSet.addOrUpdateVolume changes a copy).
func keepsVolumes(release string) bool { return isWithin(release, "23.0", "") }

// createsNoVolume tells of releases whose leader has no driver create a cluster volume: what Docker hands to swarmkit for a plugin
// lacks its address (daemon/cluster/convert.SwarmPluginGetter).
func createsNoVolume(release string) bool { return isWithin(release, "26.1", "28.2") }

// knownBugs are the bugs of the leader's engine by which the tasks may wait although a node would take them, a sentence each.
func (p *Pass) knownBugs(u *unplaced) []string {
	leader := p.leaderRelease()
	if u.stale {
		if abandons(leader) {
			return []string{fmt.Sprintf("Docker %s looks no more at a task that waits once its service was updated (moby/moby#53722)", leader)}
		}
		return nil
	}
	var all []string
	if forgets(leader) {
		all = append(all, "managers before Docker 17.06 do not look again when a task ends (moby/moby#32999)")
	}
	if bug := p.loopBug(); bug != "" {
		all = append(all, bug+": then only another leader helps")
	}
	if keepsVolumes(leader) && len(filters.ClusterMounts(u.w.Task())) > 0 {
		all = append(all, fmt.Sprintf("the scheduler of Docker %s keeps a cluster volume as it first saw it, so that one that was paused then stays so: only another leader sees it anew", leader))
	}
	return all
}

// loopBug names the endless loop where a service has the placement preferences that it needs; empty where it cannot be.
func (p *Pass) loopBug() string {
	leader := p.leaderRelease()
	if !loops(leader) {
		return ""
	}
	for _, f := range p.Services {
		if placement := f.Service.Spec.Task.Placement; placement != nil && len(placement.Preferences) > 0 {
			return fmt.Sprintf("Docker %s can loop for ever over placement preferences (moby/swarmkit#3200), and %s has some", leader, f.Service.Spec.Annotations.Name)
		}
	}
	return ""
}
