package probes

import "time"

// Flow is what the real connections from this node's tasks to an address on an overlay network show (struct bpf_sock_ops).
type Flow struct {
	// Network is the id, NetworkName the name of the overlay network.
	Network     string `json:"network"`
	NetworkName string `json:"network_name"`
	// Peer is the remote address on it. It may be a VIP, which stands for several nodes.
	Peer string `json:"peer"`
	// Connections counts those that were established, Samples the RTT readings of them, since the agent started.
	Connections uint64 `json:"connections"`
	Samples     uint64 `json:"samples"`
	// RTT is the mean of the smoothed RTT, Deviation its deviation and Highest the highest, in seconds, since the reading before.
	RTT       float64 `json:"rtt"`
	Deviation float64 `json:"deviation"`
	Highest   float64 `json:"highest"`
	// Retransmits and Timeouts are sums since the agent started.
	Retransmits uint64 `json:"retransmits"`
	Timeouts    uint64 `json:"timeouts"`
	// Silenced tells that connections exist and no reading came: another sock_ops program took the callbacks.
	Silenced bool `json:"silenced,omitempty"`
}

// Echo is what small packets between two agents showed.
type Echo struct {
	// Node is the other agent's node, Over is "overlay" or "underlay", Addr where it was asked.
	Node string `json:"node"`
	Over string `json:"over"`
	Addr string `json:"addr"`
	// Sent, Lost, Late and Reordered count packets since the agent started; one is lost that is not back within the deadline, and
	// late where it comes after that.
	Sent      uint64 `json:"sent"`
	Lost      uint64 `json:"lost"`
	Late      uint64 `json:"late,omitempty"`
	Reordered uint64 `json:"reordered,omitempty"`
	// RTT, Deviation and Highest are of the last minute, in seconds; Loss is the share of that minute's packets.
	RTT       float64 `json:"rtt"`
	Deviation float64 `json:"deviation"`
	Highest   float64 `json:"highest"`
	Loss      float64 `json:"loss"`
	// Heard is when the last one came back; zero where none did.
	Heard time.Time `json:"heard,omitzero"`
}
