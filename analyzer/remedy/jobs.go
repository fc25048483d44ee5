package remedy

import (
	"fmt"
	"slices"

	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
)

func isJob(s *api.Service) bool {
	return s != nil && (s.Spec.GetReplicatedJob() != nil || s.Spec.GetGlobalJob() != nil)
}

// isOfIteration tells whether a job's task is of the iteration that the job is at; of one without iterations, which not
// every source shows, every task is.
func isOfIteration(s *api.Service, t *api.Task) bool {
	return s.JobStatus == nil || t.JobIteration == nil || t.JobIteration.Index == s.JobStatus.JobIteration.Index
}

// withBegin has a global job that has no task begin anew after a change that does not update it: tasks are made only then.
func (s *subject) withBegin(p proposal) proposal {
	if p.change == nil || s.service == nil || s.service.Spec.GetGlobalJob() == nil || s.tasks() > 1 || s.Waiting[0].Task().ID != "" {
		return p
	}
	name := s.service.Spec.Annotations.Name
	if slices.ContainsFunc(p.commands, func(c command) bool { return c.verb == serviceUpdate && c.object == name }) {
		return p
	}
	begin := s.force()[0]
	begin.note = "a job gets no task on a node that matches only later: this begins it anew"
	return combine([]proposal{p, begin})
}

// begun are the tasks of a job's iteration that run or have completed. Any update of the job, whatever it changes, begins
// another iteration, in which all of them are made again (manager/controlapi.Server.UpdateService).
func begun(state *collector.State, s *api.Service) (running, completed []*api.Task) {
	if !isJob(s) {
		return nil, nil
	}
	for t := range state.TasksOf(s.ID) {
		switch {
		case t.DesiredState > api.TaskStateCompleted || !isOfIteration(s, t):
		case t.Status.State == api.TaskStateCompleted:
			completed = append(completed, t)
		case t.Status.State > api.TaskStatePending && t.Status.State <= api.TaskStateRunning:
			running = append(running, t)
		}
	}
	return running, completed
}

// beginsAnew tells what an update does to a job: what its tasks have done already they do a second time.
func beginsAnew(r *analyzer.Remedy, running, completed []*api.Task) {
	repeated := len(running) + len(completed)
	if repeated == 0 {
		return
	}
	raise(r, analyzer.DataRisk)
	r.Restarts += repeated
	r.Note = join(r.Note, fmt.Sprintf("the job begins anew: it repeats %s, of which %d completed", count(repeated, "task"), len(completed)))
}
