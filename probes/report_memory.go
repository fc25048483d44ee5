package probes

import "time"

// NodeMemory is the node's memory and what stalls for it.
type NodeMemory struct {
	// Total, Available and the two of swap are of /proc/meminfo.
	Total     uint64 `json:"total"`
	Available uint64 `json:"available"`
	SwapTotal uint64 `json:"swap_total"`
	SwapFree  uint64 `json:"swap_free"`
	// The node's own pressure: /proc/pressure. CPU of the node has no full.
	Pressure *Pressure `json:"pressure,omitempty"`
	CPU      *Pressure `json:"cpu,omitempty"`
	IO       *Pressure `json:"io,omitempty"`
	// CPUUnthrottled is CPU.Some without what the tasks' own CPU limits explain; see the memory probe.
	CPUUnthrottled *float64 `json:"cpu_unthrottled,omitempty"`
	// CPUs are the processors that are online; Busy is the share of their time that was in use since the reading before.
	CPUs int     `json:"cpus"`
	Busy float64 `json:"busy"`
	// Hierarchy tells how the host's memory controller is mounted: "v2", "hybrid" (v1 with a v2 tree beside) or "v1".
	Hierarchy string     `json:"hierarchy"`
	Sockets   int        `json:"sockets,omitempty"`
	NUMA      []NUMANode `json:"numa,omitempty"`
}

// NUMANode is one NUMA node of the machine.
type NUMANode struct {
	ID    int    `json:"id"`
	CPUs  []int  `json:"cpus,omitempty"`
	Total uint64 `json:"total"`
	Free  uint64 `json:"free"`
}

// Use is what a control group uses and waits for.
type Use struct {
	// Cgroup is its path below the hierarchy's root; IDs are its directories' inode numbers, as eBPF knows it.
	Cgroup string   `json:"cgroup"`
	IDs    []uint64 `json:"ids,omitempty"`
	// Current is memory.current, WorkingSet that less inactive_file, Peak the highest WorkingSet seen or memory.peak where the kernel
	// has it and no page cache was in it. Max and High are the limits; nil where there is none.
	Current    uint64  `json:"current"`
	WorkingSet uint64  `json:"working_set"`
	Peak       uint64  `json:"peak"`
	Max        *uint64 `json:"max,omitempty"`
	High       *uint64 `json:"high,omitempty"`
	Swap       uint64  `json:"swap,omitempty"`
	// Events are the counts of memory.events since the group was made; EventsAt is when one of them last grew.
	Events   MemoryEvents `json:"events"`
	EventsAt time.Time    `json:"events_at,omitzero"`
	// Pressures; nil where the kernel keeps none for groups.
	Pressure *Pressure `json:"pressure,omitempty"`
	CPU      *Pressure `json:"cpu,omitempty"`
	IO       *Pressure `json:"io,omitempty"`
	// Wakes counts how often a PSI trigger on memory fired.
	Wakes uint64 `json:"wakes,omitempty"`
	// Cores is the CPU used since the reading before, in cores; Throttled the share of that time in which its own limit held it
	// back (cpu.stat throttled_usec), Quota that limit in cores, nil where there is none.
	Cores     float64  `json:"cores"`
	Throttled float64  `json:"throttled,omitempty"`
	Quota     *float64 `json:"quota,omitempty"`
}

// MemoryEvents are the lines of memory.events; on v1 those that it has, from memory.failcnt and memory.oom_control.
type MemoryEvents struct {
	High    uint64 `json:"high"`
	Max     uint64 `json:"max"`
	OOM     uint64 `json:"oom"`
	OOMKill uint64 `json:"oom_kill"`
}

// TaskUse is the use of one container of a Swarm task.
type TaskUse struct {
	Task        string `json:"task"`
	Service     string `json:"service"`
	ServiceName string `json:"service_name"`
	Container   string `json:"container"`
	// Ended tells that it runs no more: what is here is the last that was seen of it, kept for ten minutes.
	Ended time.Time `json:"ended,omitzero"`
	Use
	// Before are its pressures of the last minutes, oldest first, for faults that are joined with them later.
	Before []Moment `json:"before,omitempty"`
	// NUMA is its anonymous memory by NUMA node; CPUs the processors it may run on, Remote the share of that memory away from
	// them, Packages the sockets those processors are on.
	NUMA     map[int]uint64 `json:"numa,omitempty"`
	CPUs     []int          `json:"cpus,omitempty"`
	Remote   float64        `json:"remote,omitempty"`
	Packages []int          `json:"packages,omitempty"`
}

// Moment is what stalled at some time.
type Moment struct {
	At time.Time `json:"at"`
	// Memory, CPU and IO are the shares that Pressure.Some was.
	Memory float64 `json:"memory"`
	CPU    float64 `json:"cpu"`
	IO     float64 `json:"io"`
}

// OutsideUse is the use of what Swarm does not know: a container that it did not make, or a top group of the system.
type OutsideUse struct {
	// Kind is container or system; Name is the container's, or the group's: "system.slice".
	Kind string `json:"kind"`
	Name string `json:"name"`
	Use
}

// BlockDevice is a block device and how loaded it is (Documentation/admin-guide/iostats.rst).
type BlockDevice struct {
	// Name is the kernel's: sda. Behind are what lies on it, of: "data-root", "swarm" (the manager's raft log).
	Name   string   `json:"name"`
	Behind []string `json:"behind"`
	// Queue is the mean number of requests in flight, Await the mean time of one and Busy the share of time with any, since the
	// reading before.
	Queue float64 `json:"queue"`
	Await float64 `json:"await"`
	Busy  float64 `json:"busy"`
}

// LoadDelay is how far what was observed of a load lags behind what it is: δ(t) = actual(t) − observed(t − Δ).
type LoadDelay struct {
	// Of is the load: memory, cpu or io; Pattern is steady, ramp or spike.
	Of      string `json:"of"`
	Pattern string `json:"pattern"`
	// Delay is Δ, in seconds, as measured; Mean and Deviation are of δ, in shares.
	Delay     float64 `json:"delay"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Samples   int     `json:"samples"`
}

// Reclaim is what reclaiming memory cost the tasks of a control group, as the kernel's own events tell.
type Reclaim struct {
	Task        string `json:"task,omitempty"`
	Service     string `json:"service,omitempty"`
	ServiceName string `json:"service_name,omitempty"`
	// Cgroup is the inode number of the group whose task reclaimed: not always the group whose limit it hit.
	Cgroup uint64 `json:"cgroup"`
	// Limit counts reclaims for a group's own limit, Direct those for want of free pages on the node; since the agent started.
	Limit  uint64 `json:"limit"`
	Direct uint64 `json:"direct"`
	// Seconds is the sum of their times, Longest the longest one. Share is the part of the time since the reading before that was
	// spent so, summed over threads: it may exceed 1.
	Seconds float64 `json:"seconds"`
	Longest float64 `json:"longest"`
	Share   float64 `json:"share"`
}

// Victim is a process that the kernel killed for want of memory.
type Victim struct {
	At      time.Time `json:"at"`
	Pid     int       `json:"pid"`
	Command string    `json:"command,omitempty"`
	Cgroup  uint64    `json:"cgroup,omitempty"`
	// Task and what follows are empty for a process that is of no task.
	Task        string `json:"task,omitempty"`
	Service     string `json:"service,omitempty"`
	ServiceName string `json:"service_name,omitempty"`
}
