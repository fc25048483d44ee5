package probes

import (
	"encoding/json"
	"time"
)

// Version is that of the shape of a Report. Fields are only ever added.
const Version = 1

// Report is what one agent saw on its node. It does not change once it is published. Amounts are in bytes, durations in seconds
// and shares from 0 to 1, all by the node's own clock. A nil or absent part was not seen: see Abilities for why.
type Report struct {
	Version int `json:"version"`
	// Revision grows with every change that should not wait for the next round: who has one asks for what comes after it.
	Revision uint64 `json:"revision"`
	// Node is the node's id, Hostname its name.
	Node     string `json:"node"`
	Hostname string `json:"hostname"`
	// Boot is the kernel's boot id: a node that was cloned has another one.
	Boot string `json:"boot,omitempty"`
	// At is when it was put together.
	At time.Time `json:"at"`
	// Agent is the version of the agent, Kernel that of the kernel.
	Agent  string `json:"agent,omitempty"`
	Kernel string `json:"kernel,omitempty"`

	Abilities []Ability `json:"abilities"`

	Memory   *NodeMemory   `json:"memory,omitempty"`
	Tasks    []TaskUse     `json:"tasks,omitempty"`
	Outside  []OutsideUse  `json:"outside,omitempty"`
	Blocks   []BlockDevice `json:"blocks,omitempty"`
	Load     []LoadDelay   `json:"load,omitempty"`
	Reclaim  []Reclaim     `json:"reclaim,omitempty"`
	Victims  []Victim      `json:"victims,omitempty"`
	Drivers  []Driver      `json:"drivers,omitempty"`
	Requests []Requests    `json:"requests,omitempty"`
	Mounts   []Mount       `json:"mounts,omitempty"`
	Flows    []Flow        `json:"flows,omitempty"`
	Echoes   []Echo        `json:"echoes,omitempty"`
	Disks    []Disk        `json:"disks,omitempty"`
	Images   []NeededImage `json:"images,omitempty"`
	Listens  []Listener    `json:"listens,omitempty"`
	Devices  []Device      `json:"devices,omitempty"`
	Engine   *EngineReport `json:"engine,omitempty"`

	// Unknown are fields of a newer agent's report that this one has no name for, kept as they came.
	Unknown map[string]json.RawMessage `json:"-"`
}

// Pressure is one file of pressure stall information (Documentation/accounting/psi.rst): the share of the time since the reading
// before, which the kernel's totals give, and the totals themselves in seconds. Averages are not used: they lag.
type Pressure struct {
	// Some is the share in which at least one process stalled, Full that in which all did.
	Some float64 `json:"some"`
	Full float64 `json:"full"`
	// SomeTotal and FullTotal are the sums since boot or since the group was made.
	SomeTotal float64 `json:"some_total"`
	FullTotal float64 `json:"full_total"`
	// Over is how long the shares are of.
	Over float64 `json:"over"`
}

// Device is an accelerator that the kernel shows.
type Device struct {
	// Kind is nvidia, davinci or dri; Path is its file: /dev/nvidia0.
	Kind string `json:"kind"`
	Path string `json:"path"`
}
