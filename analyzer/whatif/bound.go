package whatif

import (
	"fmt"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/collector"
)

// mostTasks bounds how many more tasks a change may ask for: to place each takes some 25 kB and half a millisecond.
const mostTasks = 20000

// bound refuses a change that asks for more tasks than are tried.
func bound(state *collector.State, changes []ServiceChange) error {
	left := uint64(mostTasks)
	for _, c := range changes {
		wanted, has := atOnce(c.Spec), uint64(0)
		for range state.TasksOf(c.ID) {
			has++
		}
		more := wanted - min(wanted, has)
		if more > left {
			return fmt.Errorf("service %s would have %d tasks: a change is tried that makes at most %d more", c.Spec.Annotations.Name, wanted, mostTasks)
		}
		left -= more
	}
	return nil
}

// atOnce is how many tasks a spec asks to run at once; none of a global one, of which the nodes are the bound.
func atOnce(spec *api.ServiceSpec) uint64 {
	if job := spec.GetReplicatedJob(); job != nil {
		if job.MaxConcurrent == 0 {
			return job.TotalCompletions
		}
		return min(job.MaxConcurrent, job.TotalCompletions)
	}
	if replicated := spec.GetReplicated(); replicated != nil {
		return replicated.Replicas
	}
	return 0
}
