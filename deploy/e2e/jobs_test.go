//go:build live

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/deploy/testbed"
)

// jobFault is a job that cannot be placed.
type jobFault struct {
	fault
	stays   bool   // whether its tasks run until they are ended
	remedy  string // the first, up to the amount where that depends on the machine
	becomes string // what docker service ls says at the end
	repeats string // what the remedy says of what is done a second time
	undo    string // a command line for when the job is removed: before, it would have completed tasks rejected and made anew
}

// Before Docker 29.6 a completed task of a job holds what it reserved whenever its node changes: those that reserve come last, and
// not at all on Docker 20.10, which keeps the tasks of a job that was removed.
func jobFaults() []jobFault {
	const lowers = "docker service update --reserve-memory "
	all := []jobFault{
		{
			fault: fault{
				service: "job-nowhere", create: "--mode global-job --constraint node.labels.printer==yes",
				cause: "no-eligible-node", names: []string{"node.labels.printer==yes"},
			},
			remedy:  "docker node update --label-add 'printer=yes' node-1 && docker service update --force job-nowhere",
			becomes: "(1/1 completed)", undo: "docker node update --label-rm printer node-1",
		},
		{
			fault: constrained("job-label", "node.labels.batch==yes", ""), remedy: "docker node update --label-add 'batch=yes' node-1",
			becomes: "(3/3 completed)", undo: "docker node update --label-rm batch node-1",
		},
		{
			fault: fault{
				service: "job-half", create: "--mode replicated-job --replicas 2 --replicas-max-per-node 1 --constraint node.hostname==node-3",
				cause: "max-replicas-reached", names: []string{"1 a node"},
			},
			stays: true, remedy: "docker service update --replicas-max-per-node 2 job-half", becomes: "(2/2 completed)",
			repeats: "the job begins anew: it repeats 1 task, of which 0 completed",
		},
		{
			fault: reserving("job-too-large", "--reserve-memory 900g", "", "insufficient-memory", "too-large"), remedy: lowers, becomes: "(2/2 completed)",
		},
		{
			fault: reserving("job-everywhere", "--reserve-memory 900g", "", "insufficient-memory", "too-large"), remedy: lowers, becomes: "(4/4 completed)",
		},
	}
	all[1].create += " --mode replicated-job --replicas 3"
	all[3].create += " --mode replicated-job --replicas 2"
	all[4].create += " --mode global-job"
	if os.Getenv("LIVE_DOCKER") == testbed.Docker20 {
		return all[:3]
	}
	return all
}

// jobs has jobs that cannot be placed complete by their first remedies, as they are printed.
func (r *rig) jobs() {
	planted := jobFaults()
	for _, f := range planted {
		ends := "-exit-after 1s"
		if f.stays {
			ends = ""
		}
		r.sh(fmt.Sprintf("docker service create -d --no-resolve-image --name %s %s demo:1 %s", f.service, f.create, ends))
	}
	var all []fault
	for _, f := range planted {
		all = append(all, f.fault)
	}
	r.eventually(time.Minute, func() error { return r.allSaid("stuck", all) })
	events := r.events()
	for _, f := range planted {
		r.t.Run(f.service, func(t *testing.T) {
			part := r.with(t)
			part.isNamed(f.fault, events)
			part.complete(f)
			part.eventually(time.Minute, func() error { return part.allSaid("resolved", []fault{f.fault}) })
			part.sh("docker service rm " + f.service + "\n" + f.undo)
		})
	}
}

// complete runs a job's first remedy and waits until the job is as it should become.
func (r *rig) complete(f jobFault) {
	d := r.isFound(f.fault)
	proven := provenOf(d)
	if len(proven) == 0 || !strings.HasPrefix(proven[0].Command, f.remedy) {
		r.t.Fatalf("want %s, not %+v", f.remedy, d.Remedies)
	}
	remedy := proven[0]
	if says := strings.Contains(remedy.Note, "begins anew"); says != (f.repeats != "") || !strings.Contains(remedy.Note, f.repeats) || says != (remedy.Risk == analyzer.DataRisk) {
		r.t.Errorf("the remedy has risk %s and says %q, want %q", remedy.Risk, remedy.Note, f.repeats)
	}
	r.t.Logf("docker says %q\n$ %s: places %d on %s", d.DockerSays, remedy.Command, remedy.Places, strings.Join(remedy.On, ", "))
	old := r.docker(3, "ps", "-q", "--filter", "name="+f.service)
	ended := make(chan error, 1)
	go func() { // an update of a job waits until it is done
		out, err := r.try(remedy.Command)
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s", remedy.Command, err, out)
		}
		ended <- err
	}()
	if f.stays {
		r.endBoth(f.service, old)
	}
	if err := <-ended; err != nil {
		r.t.Fatal(err)
	}
	r.eventually(time.Minute, func() error {
		if is := r.sh("docker service ls --filter name=" + f.service + " --format '{{.Replicas}}'"); !strings.Contains(is, f.becomes) {
			return fmt.Errorf("%s has %s, want %s", f.service, is, f.becomes)
		}
		return nil
	})
}

// endBoth has both tasks of a job on node-3 end well, once the one that ran there is gone.
func (r *rig) endBoth(service, old string) {
	var running []string
	r.eventually(time.Minute, func() error {
		running = strings.Fields(r.docker(3, "ps", "-q", "--filter", "name="+service))
		if len(running) != 2 || slices.Contains(running, old) {
			return fmt.Errorf("%s runs %v, want two others than %s", service, running, old)
		}
		return nil
	})
	r.docker(3, append([]string{"kill", "--signal", "TERM"}, running...)...)
}
