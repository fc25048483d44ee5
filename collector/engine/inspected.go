package engine

import (
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/libnetwork/scope"
	"github.com/swarmdiag/swarmdiag/collector"
)

// Inspected is what the Engine API and docker inspect say of a swarm, in Docker's own types.
type Inspected struct {
	Nodes    []swarm.Node
	Services []swarm.Service
	Tasks    []swarm.Task
	Networks []network.Inspect // those of another scope than swarm are passed over
	Volumes  []volume.Volume   // those that are not cluster volumes are passed over
	Info     *system.Info
	// Gaps are the readings that could not be taken.
	Gaps []collector.Gap
}

// Objects converts what was inspected for collector.Store, and says whose it is and what is missing. An object that
// cannot be converted, as one of a much newer engine, is a gap.
func (i *Inspected) Objects() (objects []any, about collector.About) {
	about = i.each(func(object any) { objects = append(objects, object) })
	return objects, about
}

// each hands the objects on one by one: whole tasks of a large swarm weigh ten times what is kept of them.
func (i *Inspected) each(take func(any)) collector.About {
	about := collector.About{Hides: Hides(), Gaps: append([]collector.Gap(nil), i.Gaps...)}
	if i.Info != nil && i.Info.Swarm.Cluster != nil {
		about.ClusterID, about.ClusterName = i.Info.Swarm.Cluster.ID, i.Info.Swarm.Cluster.Spec.Name
	}
	add := func(what, id string, object any, err error) {
		if err != nil {
			about.Gaps = append(about.Gaps, collector.Gap{What: what + " " + id, Why: "it could not be read: " + err.Error()})
			return
		}
		take(object)
	}
	for _, n := range i.Nodes {
		node, err := nodeOf(n)
		add("node", n.ID, node, err)
	}
	services := map[string]*revisions{}
	for _, s := range i.Services {
		service, err := serviceOf(s)
		if err == nil {
			services[s.ID] = revisionsOf(service)
		}
		add("service", s.ID, service, err)
	}
	for _, t := range i.Tasks {
		task, err := taskOf(t)
		if err == nil && services[t.ServiceID] != nil {
			services[t.ServiceID].mark(task)
		}
		add("task", t.ID, task, err)
	}
	for _, n := range i.Networks {
		if n.Scope == scope.Swarm {
			take(networkOf(n))
		}
	}
	for _, v := range i.Volumes {
		if v.ClusterVolume != nil {
			take(volumeOf(v))
		}
	}
	return about
}

// UsesClusterVolumes tells whether any service or task mounts one.
func (i *Inspected) UsesClusterVolumes() bool {
	for _, s := range i.Services {
		if mountsCluster(s.Spec.TaskTemplate) {
			return true
		}
	}
	for _, t := range i.Tasks {
		if mountsCluster(t.Spec) {
			return true
		}
	}
	return false
}
