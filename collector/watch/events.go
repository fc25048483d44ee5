package watch

import (
	"context"
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// kinds of objects that are watched. Docker before 23.0 takes "volume" for a kind of resource that nobody creates.
var kinds = []string{"node", "service", "task", "network", "volume"}

// stream hands on the messages of a Watch one by one; those that are not taken yet wait at the manager.
type stream struct {
	messages chan *api.WatchMessage // closed when the stream has ended
	err      error                  // why it ended; read it after messages is closed
	cancel   context.CancelFunc
}

// open starts a Watch and waits until the manager says that it is established.
func (s *Source) open(ctx context.Context, client api.WatchClient) (*stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	events := &stream{messages: make(chan *api.WatchMessage), cancel: cancel}
	go events.receive(ctx, client)

	limit := time.NewTimer(s.answer)
	defer limit.Stop()
	select {
	case _, open := <-events.messages: // the first message is empty and says just that
		if open {
			return events, nil
		}
		events.close()
		return nil, events.err
	case <-limit.C:
		events.close()
		return nil, explainCall("watch", context.DeadlineExceeded)
	}
}

// close ends the stream and waits until nothing of it runs.
func (s *stream) close() {
	s.cancel()
	for range s.messages { // dropped
	}
}

func (s *stream) receive(ctx context.Context, client api.WatchClient) {
	defer close(s.messages)
	request := &api.WatchRequest{}
	for _, kind := range kinds {
		request.Entries = append(request.Entries, &api.WatchRequest_WatchEntry{
			Kind:   kind,
			Action: api.WatchActionKindCreate | api.WatchActionKindUpdate | api.WatchActionKindRemove,
		})
	}
	watch, err := client.Watch(ctx, request)
	for err == nil {
		err = s.handOn(ctx, watch)
	}
	s.err = explainCall("watch", err)
}

func (s *stream) handOn(ctx context.Context, watch api.Watch_WatchClient) error {
	message, err := watch.Recv()
	if err != nil {
		return err
	}
	select {
	case s.messages <- message:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// apply brings events, each message of which is one transaction of the managers, into the store: of each object the last
// one. An event that is older than what is held is passed over: events wait while a listing is taken, and this manager may
// lag behind the leader, who answers listings. For the same reasons an object that the listing lacks, because it was removed,
// can come back until its remaining events are through, but never older than it was; the last of them removes it.
func (r *reading) apply(events []*api.WatchMessage_Event) error {
	state := r.store.Snapshot()
	last := make(map[string]*api.WatchMessage_Event, len(events)) // by id, which no two objects share
	for _, event := range events {
		object := objectOf(event)
		if object == nil {
			continue
		}
		if known, is := last[object.GetID()]; !is || version(object) >= version(objectOf(known)) {
			last[object.GetID()] = event
		}
	}
	var put, removed []any
	for id, event := range last {
		object := objectOf(event)
		switch {
		case event.Action == api.WatchActionKindRemove:
			removed = append(removed, object)
			delete(r.dropped, id)
		case version(object) >= max(heldVersion(state, object), r.dropped[id]):
			if node, is := object.(*api.Node); is {
				keepStanding(state, node)
			}
			put = append(put, object)
		}
	}
	if len(put) > 0 {
		if err := r.store.Put(put...); err != nil {
			return err
		}
	}
	if len(removed) > 0 {
		return r.store.Remove(removed...)
	}
	return nil
}

// keepStanding gives a node the ManagerStatus that is held of it: no event carries one, see refreshManagers.
func keepStanding(state *collector.State, node *api.Node) {
	if held := state.Node(node.ID); held != nil {
		node.ManagerStatus = held.ManagerStatus
	}
}

// objectOf returns the object of an event, or nil if it is of no kind that was asked for.
func objectOf(event *api.WatchMessage_Event) api.StoreObject {
	switch o := event.Object.GetObject().(type) {
	case *api.Object_Node:
		return o.Node
	case *api.Object_Service:
		return o.Service
	case *api.Object_Task:
		return o.Task
	case *api.Object_Network:
		return o.Network
	case *api.Object_Volume:
		return o.Volume
	}
	return nil
}

// version is the raft index at which an object was last written, less one transaction: it only grows.
func version(object api.StoreObject) uint64 {
	meta := object.GetMeta()
	return meta.Version.Index
}

// heldVersion is the version of an object in the state, 0 if it is not there.
func heldVersion(state *collector.State, object api.StoreObject) uint64 {
	switch o := object.(type) {
	case *api.Node:
		return versionOf(state.Node(o.ID))
	case *api.Service:
		return versionOf(state.Service(o.ID))
	case *api.Task:
		return versionOf(state.Task(o.ID))
	case *api.Network:
		return versionOf(state.Network(o.ID))
	case *api.Volume:
		return versionOf(state.Volume(o.ID))
	}
	return 0
}

func versionOf[T any, P interface {
	*T
	api.StoreObject
}](held P) uint64 {
	if held == nil {
		return 0
	}
	return version(held)
}
