package probes

import "time"

// Engine is what the node's own Docker engine says of itself, reduced to what a probe or a rule reads: no environment, no arguments, no
// options that may hold credentials.
type Engine struct {
	// At is when it was asked last, Answered when it last answered in time. Ping is how long its last /_ping took.
	At, Answered time.Time
	Ping         time.Duration
	// Failure is what went wrong with the last question; empty where it answered.
	Failure string

	Version string
	// DataRoot is the host's path of the data root: /var/lib/docker.
	DataRoot string
	// CgroupVersion is 1 or 2, CgroupDriver cgroupfs or systemd.
	CgroupVersion int
	CgroupDriver  string
	Swarm         EngineSwarm
	// Generic are the node-generic-resources of its configuration: "gpu=4", "gpu=UUID-1".
	Generic []string
	// VolumeDrivers are the volume drivers that it knows: of legacy ones only those that were used since it started.
	VolumeDrivers []string

	Containers []Container
	Networks   []Network
	Volumes    []Volume
	Images     []Image
	Plugins    []ManagedPlugin
}

// EngineSwarm is the engine's own view of the swarm (GET /info, Swarm).
type EngineSwarm struct {
	NodeID string `json:"node_id"`
	Addr   string `json:"addr,omitempty"`
	// State is inactive, pending, active, error or locked.
	State string `json:"state"`
	Error string `json:"error,omitempty"`
	// Control tells that it answers as a manager.
	Control  bool     `json:"control"`
	Managers []string `json:"managers,omitempty"` // addresses of the remote managers
}

// Container is one container of the engine.
type Container struct {
	ID, Name string
	// State is created, running, paused, restarting, removing, exited or dead.
	State string
	// Pid is its first process as the host numbers it; 0 where none runs.
	Pid int
	// CgroupParent is what it or the engine was told to put it under: "/docker", "system.slice".
	CgroupParent string
	// Sandbox is the path of its network namespace: /run/docker/netns/1a2b3c.
	Sandbox string
	// Task, Service and ServiceName are those of Swarm; empty for a container that Swarm did not make.
	Task, Service, ServiceName string
	// Networks are its addresses by network id.
	Networks map[string]string
	Mounts   []ContainerMount
	// Ports are the ports of the host that lead to it.
	Ports []HostPort
	// Started and Finished are of its last run. Exit is the exit code of what ended, OOMKilled what the engine says of it.
	Started, Finished time.Time
	Exit              int
	OOMKilled         bool
}

// ContainerMount is one mount of a container.
type ContainerMount struct {
	// Type is bind, volume, tmpfs, npipe or cluster.
	Type string
	// Volume and Driver are of a volume; Source is the host's path, Target the one inside.
	Volume, Driver, Source, Target string
}

// HostPort is a port of the host.
type HostPort struct {
	Port     uint16
	Protocol string // tcp, udp or sctp
}

// Network is a network that the engine knows.
type Network struct {
	ID, Name, Driver, Scope string
	// Subnets are in CIDR notation.
	Subnets []string
	// Encrypted tells that its data goes through IPsec.
	Encrypted bool
}

// Volume is a volume of the engine.
type Volume struct {
	Name, Driver, Mountpoint string
	// Type and Device are options of the local driver, without credentials: "nfs", ":/export".
	Type, Device string
	// Server is where an NFS or similar mount leads.
	Server string
}

// Image is one image of the engine's store.
type Image struct {
	ID string
	// Names are tags and digests that it is known by: "nginx:1.27", "nginx@sha256:…".
	Names []string
}

// ManagedPlugin is a plugin that the engine runs itself.
type ManagedPlugin struct {
	ID, Name string
	Enabled  bool
	// Types are what it implements: "docker.volumedriver/1.0".
	Types []string
	// Socket is the host's path of its socket.
	Socket string
}
