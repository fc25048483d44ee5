package dump

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/volume"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/engine"
)

// findings is what the files hold so far. Of an object that is in them twice the later version counts.
type findings struct {
	nodes    *set[swarm.Node]
	services *set[swarm.Service]
	tasks    *set[swarm.Task]
	networks *set[network.Inspect]
	volumes  *set[volume.Volume]
	info     *system.Info
	unknown  []string // names of files with other JSON
	blank    []string // names of files with nothing in them, as commands write that find nothing
}

func newFindings() *findings {
	return &findings{
		nodes:    newSet(func(n swarm.Node) (string, uint64) { return n.ID, n.Version.Index }),
		services: newSet(func(s swarm.Service) (string, uint64) { return s.ID, s.Version.Index }),
		tasks:    newSet(func(t swarm.Task) (string, uint64) { return t.ID, t.Version.Index }),
		networks: newSet(func(n network.Inspect) (string, uint64) { return n.ID, 0 }),
		volumes: newSet(func(v volume.Volume) (string, uint64) {
			if v.ClusterVolume == nil {
				return v.Name, 0
			}
			return v.ClusterVolume.ID, v.ClusterVolume.Version.Index
		}),
	}
}

// empty: networks, volumes and docker info alone tell nothing of what waits.
func (f *findings) empty() bool {
	return len(f.nodes.list)+len(f.services.list)+len(f.tasks.list) == 0
}

func (f *findings) state(path string) (*collector.State, time.Time, error) {
	inspected := &engine.Inspected{
		Nodes: f.nodes.list, Services: f.services.list, Tasks: f.tasks.list,
		Networks: f.networks.list, Volumes: f.volumes.list, Info: f.info, Gaps: f.gaps(),
	}
	now, dated := f.newest(), !f.written().IsZero()
	objects, about := inspected.Objects()
	about.Source, about.AsOf, about.Undated = "dump", now, !dated
	about.Hides = append(about.Hides, collector.Gap{
		What: "task.attachment",
		Why:  "docker service ps and docker node ps leave out the network attachments of plain containers",
	})
	store := collector.NewStore()
	if err := store.Replace(objects); err != nil {
		return nil, now, fmt.Errorf("read %s: %w", path, err)
	}
	store.Describe(about)
	return store.Snapshot(), now, nil
}

// gaps names what the dump lacks. Without cluster volumes in use their absence hides nothing, nor do the services and tasks of
// a swarm that has none; no swarm is without a node.
func (f *findings) gaps() []collector.Gap {
	var gaps []collector.Gap
	lacks := func(found int, what, command, blind string, mayBeNone bool) {
		if found == 0 && !(mayBeNone && f.isBlank(what)) {
			gaps = append(gaps, collector.Gap{What: what, Why: "no `" + command + "` output: " + blind})
		}
	}
	lacks(len(f.nodes.list), Nodes, "docker node inspect", "no node can be judged", false)
	lacks(len(f.services.list), Services, "docker service inspect", "there is no service, or what services ask for is unknown", true)
	lacks(len(f.tasks.list), Tasks, "docker inspect --type task", "there is no task, or what runs and what waits is unknown", true)
	lacks(len(f.networks.list), "networks", "docker network inspect", "networks without a driver or with a full subnet stay unseen", true)
	if (&engine.Inspected{Services: f.services.list, Tasks: f.tasks.list}).UsesClusterVolumes() {
		lacks(len(f.volumes.list), "volumes", "docker volume inspect", "the cluster volumes that services mount cannot be judged", true)
	}
	gaps = append(gaps, f.doubtful()...)
	if f.info == nil {
		gaps = append(gaps, collector.Gap{What: "info", Why: "no `docker info` output: the cluster's id and name are unknown"})
	}
	if len(f.unknown) > 0 {
		gaps = append(gaps, collector.Gap{
			What: "files", Why: "JSON that is not the output of docker inspect or docker info was passed over in " + strings.Join(f.unknown, ", "),
		})
	}
	return gaps
}

// isBlank tells whether a file of that name has nothing in it: only its name can tell what it has nothing of.
func (f *findings) isBlank(what string) bool {
	return slices.ContainsFunc(f.blank, func(file string) bool {
		return strings.Contains(strings.ToLower(file), strings.TrimSuffix(what, "s"))
	})
}

// doubtful names files that are empty beside others that say they should not be.
func (f *findings) doubtful() []collector.Gap {
	wanting := 0
	for _, s := range f.services.list {
		if r := s.Spec.Mode.Replicated; r != nil && r.Replicas != nil && *r.Replicas > 0 {
			wanting++
		}
	}
	if wanting > 0 && len(f.tasks.list) == 0 && f.isBlank(Tasks) {
		return []collector.Gap{{What: collector.NoTasksGap, Why: fmt.Sprintf(
			"it is empty, though %d of the services want replicas: the command that wrote it found nothing or did not work, and what runs is unknown", wanting)}}
	}
	if len(f.tasks.list) > 0 && len(f.services.list) == 0 && f.isBlank(Services) {
		return []collector.Gap{{What: "services.json", Why: fmt.Sprintf(
			"it is empty, though there are %d tasks: their services were removed, or the command that wrote it did not work", len(f.tasks.list))}}
	}
	return nil
}

// newest returns the newest timestamp of all.
func (f *findings) newest() time.Time {
	var newest time.Time
	seen := func(times ...time.Time) {
		for _, t := range times {
			if t.After(newest) {
				newest = t
			}
		}
	}
	for _, n := range f.nodes.list {
		seen(n.CreatedAt, n.UpdatedAt)
	}
	for _, s := range f.services.list {
		seen(s.CreatedAt, s.UpdatedAt)
		if u := s.UpdateStatus; u != nil && u.StartedAt != nil {
			seen(*u.StartedAt)
		}
		if u := s.UpdateStatus; u != nil && u.CompletedAt != nil {
			seen(*u.CompletedAt)
		}
		if s.JobStatus != nil {
			seen(s.JobStatus.LastExecution)
		}
	}
	for _, t := range f.tasks.list {
		seen(t.CreatedAt, t.UpdatedAt, t.Status.Timestamp)
	}
	for _, n := range f.networks.list {
		seen(n.Created)
	}
	for _, v := range f.volumes.list {
		if v.ClusterVolume != nil {
			seen(v.ClusterVolume.CreatedAt, v.ClusterVolume.UpdatedAt)
		}
	}
	if f.info != nil {
		seen(f.written())
		if c := f.info.Swarm.Cluster; c != nil {
			seen(c.CreatedAt, c.UpdatedAt)
		}
	}
	return newest.UTC()
}

// written is when docker info was asked, zero where the files do not tell: nothing else in them says when they were made.
func (f *findings) written() time.Time {
	if f.info == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, f.info.SystemTime)
	if err != nil {
		return time.Time{}
	}
	return t
}

// set is a list of objects that holds each id once.
type set[T any] struct {
	list  []T
	key   func(T) (id string, version uint64)
	index map[string]int
}

func newSet[T any](key func(T) (string, uint64)) *set[T] {
	return &set[T]{key: key, index: map[string]int{}}
}

// put reports false for an object without an id.
func (s *set[T]) put(object T) bool {
	id, version := s.key(object)
	if id == "" {
		return false
	}
	at, known := s.index[id]
	if !known {
		s.index[id] = len(s.list)
		s.list = append(s.list, object)
	} else if _, before := s.key(s.list[at]); version >= before {
		s.list[at] = object
	}
	return true
}
