package probes

import "time"

// Disk is a file system of the node that Docker depends on.
type Disk struct {
	// Of is data-root, swarm or run; Path is the host's.
	Of   string `json:"of"`
	Path string `json:"path"`
	Type string `json:"type,omitempty"`
	// Free is what root may still take, in bytes; the same for inodes, where a total of 0 means that the file system has no limit.
	Total      uint64 `json:"total"`
	Free       uint64 `json:"free"`
	Inodes     uint64 `json:"inodes"`
	FreeInodes uint64 `json:"free_inodes"`
	ReadOnly   bool   `json:"read_only,omitempty"`
}

// NeededImage is an image that a task of this node wants.
type NeededImage struct {
	Name string `json:"name"`
	// Has tells whether the node's store holds it.
	Has bool `json:"has"`
	// Tasks are those of the node that want it.
	Tasks []string `json:"tasks"`
}

// Listener is a port of the node on which something listens that no Swarm task owns.
type Listener struct {
	Port     uint16 `json:"port"`
	Protocol string `json:"protocol"` // tcp or udp
	Address  string `json:"address"`  // 0.0.0.0, [::] or one of the node's
	// Pid and Command are of who listens, Container the container it is in; empty where that could not be seen.
	Pid       int    `json:"pid,omitempty"`
	Command   string `json:"command,omitempty"`
	Container string `json:"container,omitempty"`
}

// EngineReport is what the node's own engine is like.
type EngineReport struct {
	// Answers tells whether /_ping came back within its deadline; Since is since when it does, or does not. Ping is how long the last
	// one took, in seconds.
	Answers bool      `json:"answers"`
	Since   time.Time `json:"since"`
	Ping    float64   `json:"ping"`
	Failure string    `json:"failure,omitempty"`
	Version string    `json:"version,omitempty"`
	// Swarm is its own view of the swarm.
	Swarm EngineSwarm `json:"swarm"`
	// Generic are the generic resources of its configuration as it runs, Configured those of daemon.json, nil where that file
	// could not be read.
	Generic    []string `json:"generic,omitempty"`
	Configured []string `json:"configured,omitempty"`
	// CgroupVersion is 1 or 2.
	CgroupVersion int    `json:"cgroup_version,omitempty"`
	CgroupDriver  string `json:"cgroup_driver,omitempty"`
}
