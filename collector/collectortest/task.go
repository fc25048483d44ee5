package collectortest

import (
	"fmt"
	"strings"
	"time"

	gogotypes "github.com/gogo/protobuf/types"
	"github.com/moby/swarmkit/v2/api"
)

// Epoch is when all running tasks were made.
var Epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// Stamp is a time as swarmkit keeps it. It panics where that cannot keep it.
func Stamp(t time.Time) *gogotypes.Timestamp {
	stamp, err := gogotypes.TimestampProto(t)
	if err != nil {
		panic(err)
	}
	return stamp
}

// Task is one that is to run, in a slot of a service. One that is pending was made a minute after Epoch.
func Task(s *api.Service, slot int, state api.TaskState) *api.Task {
	made := Epoch
	if state == api.TaskStatePending {
		made = made.Add(time.Minute)
	}
	return &api.Task{
		ID: fmt.Sprintf("%s.%d.%s", s.Spec.Annotations.Name, slot, strings.ToLower(state.String())), ServiceID: s.ID, Slot: uint64(slot),
		Meta: api.Meta{CreatedAt: Stamp(made)}, Spec: s.Spec.Task, SpecVersion: s.SpecVersion, Endpoint: s.Endpoint,
		Status: api.TaskStatus{State: state}, DesiredState: api.TaskStateRunning,
	}
}

// On makes running tasks of a service in its first slots, one on each of the nodes of these numbers.
func On(s *api.Service, nodes ...int) []any {
	var tasks []any
	for i, number := range nodes {
		t := Task(s, i+1, api.TaskStateRunning)
		t.NodeID = nodeID(number)
		tasks = append(tasks, t)
	}
	return tasks
}

// Waiting makes pending tasks of a service from a slot on.
func Waiting(s *api.Service, slot, number int) []any {
	var tasks []any
	for i := range number {
		tasks = append(tasks, Task(s, slot+i, api.TaskStatePending))
	}
	return tasks
}
