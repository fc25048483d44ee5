package probes

import "time"

// What a driver may be like.
const (
	DriverAnswers  = "answers"
	DriverAbsent   = "absent"   // no socket where one should be
	DriverRefuses  = "refuses"  // a socket that nobody listens on
	DriverSilent   = "silent"   // takes the connection and never answers
	DriverSlow     = "slow"     // answers, later than it should
	DriverWrong    = "wrong"    // answers what no plugin would
	DriverDisabled = "disabled" // a managed plugin that is installed and not enabled
)

// Driver is one volume driver of the node.
type Driver struct {
	// Name is what a volume names it by.
	Name string `json:"name"`
	// Kind is legacy (a socket or spec file) or managed (docker plugin).
	Kind string `json:"kind"`
	// Socket is the host's path or the address; Spec is the file that led to it.
	Socket string `json:"socket,omitempty"`
	Spec   string `json:"spec,omitempty"`
	// State is one of the Driver constants; Since is since when, Error the last answer's fault: one sentence.
	State string    `json:"state"`
	Since time.Time `json:"since"`
	Error string    `json:"error,omitempty"`
	// Handshake is how long it took to answer, in seconds.
	Handshake float64 `json:"handshake,omitempty"`
	// Implements are its subsystems: VolumeDriver. Scope is local or global, Volumes how many it lists, Missing the
	// calls that a volume driver must have and this one refused.
	Implements []string `json:"implements,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	Volumes    *int     `json:"volumes,omitempty"`
	Missing    []string `json:"missing,omitempty"`
	// Unknown tells that the engine does not know it, so that Swarm does not either: a legacy one is found when it is first used.
	// Wake is the command that has the engine find it.
	Unknown bool   `json:"unknown,omitempty"`
	Wake    string `json:"wake,omitempty"`
	// Tasks are the ids of the node's tasks with a volume of it.
	Tasks []string `json:"tasks,omitempty"`
}

// Requests is how long requests to a driver's socket took, as they passed by.
type Requests struct {
	Driver string `json:"driver"`
	Socket string `json:"socket"`
	// By is how it was seen: fentry, kprobe, sock-length or syscalls.
	By string `json:"by"`
	// Count and Seconds are sums since the agent started, Longest the longest one.
	Count   uint64  `json:"count"`
	Seconds float64 `json:"seconds"`
	Longest float64 `json:"longest"`
	// Refused counts connections that were refused, Missing those to a socket that was not there.
	Refused uint64 `json:"refused,omitempty"`
	Missing uint64 `json:"missing,omitempty"`
}

// Mount is a mount that something of the node depends on and that can hang: NFS, Ceph, FUSE and their like.
type Mount struct {
	// Path is the host's; Type is the kernel's name of the file system: nfs4, ceph, fuse.sshfs. Source and Options are
	// without credentials.
	Path    string `json:"path"`
	Type    string `json:"type"`
	Source  string `json:"source,omitempty"`
	Server  string `json:"server,omitempty"`
	Options string `json:"options,omitempty"`
	// Volume and Driver are those of the volume that it is, where it is one.
	Volume string `json:"volume,omitempty"`
	Driver string `json:"driver,omitempty"`
	// Hung is since when it does not answer; zero where it does. Asked is how long the last statfs took, Deadline how long it may.
	Hung     time.Time `json:"hung,omitzero"`
	Asked    float64   `json:"asked"`
	Deadline float64   `json:"deadline"`
	Error    string    `json:"error,omitempty"`
	// Tasks are those of the node that have it mounted.
	Tasks []MountTask `json:"tasks,omitempty"`
	// Free and Total are of the last statfs that answered; nil where none did.
	Free  *uint64 `json:"free,omitempty"`
	Total *uint64 `json:"total,omitempty"`
}

// MountTask is a task behind a mount.
type MountTask struct {
	Task        string `json:"task"`
	Service     string `json:"service"`
	ServiceName string `json:"service_name"`
	// Stuck is since when a process of it is in uninterruptible sleep (state D); zero where none is. Processes is how many are.
	Stuck     time.Time `json:"stuck,omitzero"`
	Processes int       `json:"processes,omitempty"`
	// Waits is the kernel function they sleep in, where /proc tells: nfs_wait_bit_killable.
	Waits string `json:"waits,omitempty"`
}
