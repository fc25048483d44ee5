package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/engine"
	"github.com/swarmdiag/swarmdiag/collector/peers"
)

const (
	// placeCheck is how often the engine is asked for its place in the swarm.
	placeCheck = 15 * time.Second
	// speakerMissing is how long nobody may speak for the cluster before a warning.
	speakerMissing = time.Minute
)

// place is where in the swarm the agent is: as the operator says, else by its own engine.
type place struct {
	engine *engine.Client
	port   uint16
	log    *logrus.Entry
	known  bool // the engine need not be asked for the node

	mu       sync.Mutex // protects all following fields
	node     string
	managers map[string]string // host by node id
}

// newPlace takes the node from the operator. An agent without one that reads an engine on another machine is not on that
// engine's node, and must not pass for the agent there: it goes by its machine's name, which no node has for an id.
func newPlace(node string, engine *engine.Client, port uint16, log *logrus.Entry) (*place, error) {
	p := &place{engine: engine, port: port, log: log, known: true, node: node}
	switch {
	case node != "":
	case engine != nil && !engine.Local():
		name, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("find this machine's name: %w", err)
		}
		p.node = name
	default:
		p.known = false
	}
	return p, nil
}

// id is the id of the agent's node, or its machine's name where it is on none; empty while it is not known.
func (p *place) id() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node
}

// agents are where other agents on managers answer, or those on workers: by the state, or where that has no other manager, by the
// managers that the engine knows.
func (p *place) agents(state *collector.State, managers bool) []peers.Agent {
	if agents := peers.Agents(state, p.id(), p.port, managers); len(agents) > 0 || !managers {
		return agents
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var agents []peers.Agent
	for id, host := range p.managers {
		if id != p.node {
			agents = append(agents, peers.Agent{Node: id, Addr: net.JoinHostPort(host, strconv.Itoa(int(p.port)))})
		}
	}
	slices.SortFunc(agents, func(a, b peers.Agent) int { return strings.Compare(a.Node, b.Node) })
	return agents
}

// keep asks the engine until ctx ends, and warns once where for a while nobody speaks for the cluster.
func (p *place) keep(ctx context.Context, missing func() bool) {
	since, warned := time.Now(), false
	for {
		p.refresh(ctx)
		if !missing() {
			since, warned = time.Now(), false
		} else if !warned && time.Since(since) > speakerMissing {
			warned = true
			p.warn()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(placeCheck):
		}
	}
}

func (p *place) refresh(ctx context.Context) {
	if p.engine == nil { // the demo's swarm has none
		return
	}
	self, err := p.engine.Self(ctx)
	if err != nil {
		p.log.WithError(err).Debug("engine does not tell its place in the swarm")
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.managers = self.Managers
	if !p.known && self.Node != "" {
		p.node = self.Node
	}
}

func (p *place) warn() {
	p.mu.Lock()
	var hosts []string
	for _, host := range p.managers {
		hosts = append(hosts, host)
	}
	p.mu.Unlock()
	slices.Sort(hosts)
	p.log.WithField("managers", strings.Join(hosts, " ")).Warn("no agent speaks for the cluster: none answers on a manager. " +
		"A drained manager runs no global task: start the agent there as a plain container (README, drained managers), " +
		"or point one at a manager's engine with a docker context")
}
