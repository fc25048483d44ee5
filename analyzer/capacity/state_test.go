package capacity

import (
	"time"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/collectortest"
)

const gib = collectortest.GiB

// What swarms are made of, under short names.
var (
	node, drained, down, labelled, sized = collectortest.Node, collectortest.Drained, collectortest.Down, collectortest.Labelled, collectortest.MemoryOf
	service, constrained, global         = collectortest.Service, collectortest.Constrained, collectortest.Global
	on, stateOf                          = collectortest.On, analyzertest.StateOf
)

func reserves(memory int64) func(*api.ServiceSpec) { return collectortest.Reserves(memory, 0) }

func withVolume(driver string) func(*api.ServiceSpec) {
	return func(s *api.ServiceSpec) {
		s.Task.GetContainer().Mounts = []api.Mount{{
			Type: api.MountTypeVolume, Source: "data", Target: "/data",
			VolumeOptions: &api.Mount_VolumeOptions{DriverConfig: &api.Driver{Name: driver}},
		}}
	}
}

// waiting makes the first tasks of a service, pending.
func waiting(s *api.Service, number int) []any { return collectortest.Waiting(s, 1, number) }

// diagnoses are those of an hour after the tasks were made.
func diagnoses(state *collector.State) []analyzer.Diagnosis {
	return analyzer.Analyze(state, collectortest.Epoch.Add(time.Hour), analyzer.Patience{ProvenAtOnce: true}).Diagnoses
}

// toldToStop are tasks that the managers do not want any more, and that run for all they know.
func toldToStop(tasks []any) []any {
	for _, t := range tasks {
		t.(*api.Task).DesiredState = api.TaskStateShutdown
	}
	return tasks
}
