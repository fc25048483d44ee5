package engine

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"

	"github.com/swarmdiag/swarmdiag/probes"
)

const (
	// pingEvery is how often the engine is asked whether it lives; pingTime is how long it may take to say so.
	pingEvery, pingTime = 5 * time.Second, 5 * time.Second
	// localQuiet is the least time between two readings, however many events come; localEvery is the time to the next one where
	// none came, since a stream of events may lose some.
	localQuiet, localEvery = time.Second, time.Minute
	// localTime bounds one request: it is the node's own socket.
	localTime = 10 * time.Second
	// mostInspected bounds the containers of which more is known than the list tells.
	mostInspected = 2000
)

// Local keeps what the node's own engine says of itself and of what runs on it. It asks again when an event tells of a change,
// and each container for its details only once a run.
type Local struct {
	client *Client
	now    func() time.Time
	news   func()
	nudge  chan struct{}

	mu      sync.Mutex // protects what follows
	last    *probes.Engine
	stale   map[string]bool // containers to be inspected anew
	changed changes
}

// changes are the lists to be read again.
type changes struct{ info, containers, networks, volumes, images, plugins bool }

var allChanged = changes{true, true, true, true, true, true}

// NewLocal returns a keeper that asks the client's engine, which nothing else should use: an engine that hangs holds each of
// its connections. news is called after something changed.
func NewLocal(client *Client, now func() time.Time, news func()) *Local {
	return &Local{client: client, now: now, news: news, nudge: make(chan struct{}, 1), stale: map[string]bool{}, changed: allChanged}
}

// Engine returns what the engine last said; nil before it was first asked. It does not change.
func (l *Local) Engine() *probes.Engine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Run asks until ctx ends.
func (l *Local) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { l.listen(ctx) })
	running.Go(func() { l.keepAsking(ctx) })
	for {
		if l.answers() && l.old() {
			l.read(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(localQuiet):
		}
		select {
		case <-ctx.Done():
			return
		case <-l.nudge:
		case <-time.After(localEvery):
			l.mark(allChanged, "")
		}
	}
}

// keepAsking asks whether the engine lives, beside the readings, which may hang with it.
func (l *Local) keepAsking(ctx context.Context) {
	for {
		l.ping(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pingEvery):
		}
	}
}

func (l *Local) old() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed != changes{}
}

func (l *Local) answers() bool {
	last := l.Engine()
	return last != nil && last.Failure == ""
}

// ping asks whether the engine lives.
func (l *Local) ping(ctx context.Context) {
	began := l.now()
	asked, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	answer, err := l.client.api.Ping(asked)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		l.client.api.NegotiateAPIVersionPing(answer)
	}
	took := l.now().Sub(began)
	l.publish(func(e *probes.Engine) {
		e.At, e.Ping = l.now(), took
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			e.Failure = "no answer to /_ping within " + pingTime.String()
		case err != nil:
			e.Failure = l.client.explain("ask whether the engine lives", "/_ping", err).Error()
		default:
			e.Failure, e.Answered = "", e.At
		}
	})
}

// publish changes a copy of what is known, and tells when it differs in more than its times.
func (l *Local) publish(change func(*probes.Engine)) {
	l.mu.Lock()
	next := probes.Engine{}
	if l.last != nil {
		next = *l.last
	}
	failure := next.Failure
	first := l.last == nil
	change(&next)
	l.last = &next
	l.mu.Unlock()
	if first || failure != next.Failure {
		l.mark(changes{}, "") // it may be read now
		l.news()
	}
}

// read asks for what changed. What cannot be read stays as it was, and is asked for again.
func (l *Local) read(ctx context.Context) {
	l.mu.Lock()
	wanted, stale := l.changed, l.stale
	l.changed, l.stale = changes{}, map[string]bool{}
	next := *l.last
	l.mu.Unlock()
	left := l.client.readLocal(ctx, &next, wanted, stale)
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	l.changed = l.changed.or(left)
	if left.containers {
		maps.Copy(l.stale, stale)
	}
	next.At, next.Answered, next.Ping, next.Failure = l.last.At, l.last.Answered, l.last.Ping, l.last.Failure
	l.last = &next
	l.mu.Unlock()
	l.news()
}

func (c changes) or(other changes) changes {
	return changes{
		c.info || other.info, c.containers || other.containers, c.networks || other.networks,
		c.volumes || other.volumes, c.images || other.images, c.plugins || other.plugins,
	}
}

// listen passes on what changed. Where the engine sends no events, all is read every localEvery.
func (l *Local) listen(ctx context.Context) {
	wanted := events.ListOptions{Filters: filters.NewArgs(
		filters.Arg("type", string(events.ContainerEventType)), filters.Arg("type", string(events.NetworkEventType)),
		filters.Arg("type", string(events.VolumeEventType)), filters.Arg("type", string(events.ImageEventType)),
		filters.Arg("type", string(events.PluginEventType)), filters.Arg("type", string(events.DaemonEventType)))}
	for ctx.Err() == nil {
		l.stream(ctx, wanted)
		l.mark(allChanged, "") // what happened meanwhile was not heard
		select {
		case <-ctx.Done():
		case <-time.After(pingEvery):
		}
	}
}

func (l *Local) stream(ctx context.Context, wanted events.ListOptions) {
	ctx, cancel := context.WithTimeout(ctx, streamLife)
	defer cancel()
	messages, failed := l.client.api.Events(ctx, wanted)
	for {
		select {
		case <-failed:
			return
		case message := <-messages:
			l.hear(message)
		}
	}
}

// hear marks what an event makes old. Health checks and other commands inside a container change nothing that is kept.
func (l *Local) hear(message events.Message) {
	switch message.Type {
	case events.ContainerEventType:
		switch message.Action {
		case events.ActionCreate, events.ActionStart, events.ActionDie, events.ActionDestroy, events.ActionRename, events.ActionPause,
			events.ActionUnPause, events.ActionUpdate, events.ActionOOM, events.ActionStop, events.ActionKill:
			l.mark(changes{containers: true}, message.Actor.ID)
		}
	case events.NetworkEventType:
		l.mark(changes{networks: true, containers: true}, message.Actor.Attributes["container"])
	case events.VolumeEventType:
		l.mark(changes{volumes: true, info: true}, "")
	case events.ImageEventType:
		l.mark(changes{images: true}, "")
	case events.PluginEventType:
		l.mark(changes{plugins: true, info: true}, "")
	case events.DaemonEventType:
		l.mark(allChanged, "")
	}
}

func (l *Local) mark(what changes, container string) {
	l.mu.Lock()
	l.changed = l.changed.or(what)
	if container != "" && len(l.stale) < mostInspected {
		l.stale[container] = true
	}
	l.mu.Unlock()
	select {
	case l.nudge <- struct{}{}:
	default:
	}
}
