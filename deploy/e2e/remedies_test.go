//go:build live

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// healByRemedy runs the first remedy as it is printed and sees come true what it says. What no copy can show is healed as the
// fault was made, and so is what a remedy took room for, which the next ones need.
func (r *rig) healByRemedy(f fault) {
	result, _ := r.why(f.service)
	if len(result.Diagnoses) != 1 || result.Diagnoses[0].Remedies == nil {
		r.t.Fatalf("why finds %s, and remedies %v", causes(result), result.Diagnoses)
	}
	d := result.Diagnoses[0]
	proven := provenOf(d)
	switch {
	case f.unproven && len(proven) > 0:
		r.t.Errorf("no copy can show this: %+v", proven)
	case !f.unproven && len(proven) == 0:
		r.t.Errorf("no remedy is proven: %+v", d.Remedies)
	case len(proven) > 0:
		r.comesTrue(d, proven[0])
	}
	if f.healByAPI != nil {
		f.healByAPI()
	} else if out, err := r.try(f.heal); err != nil {
		r.t.Logf("already otherwise: %s", out)
	}
	r.eventually(time.Minute, func() error { return r.running(f.service) })
}

func provenOf(d analyzer.Diagnosis) []analyzer.Remedy {
	return slices.DeleteFunc(slices.Clone(d.Remedies), func(r analyzer.Remedy) bool { return !r.Verified })
}

// otherRemedies runs those proven remedies of a fault that did not run yet. Before each the fault is made anew, on nodes as
// they were.
func (r *rig) otherRemedies(f fault, as []nodeSpec) {
	for {
		r.make(f)
		d := r.isFound(f)
		proven := slices.DeleteFunc(provenOf(d), func(remedy analyzer.Remedy) bool { return r.ran[remedy.Command] })
		if len(proven) > 0 {
			r.comesTrue(d, proven[0])
		}
		r.sh("docker service rm " + f.service)
		r.restore(as)
		if len(proven) < 2 {
			return
		}
	}
}

func (r *rig) make(f fault) {
	r.t.Helper()
	r.sh(fmt.Sprintf("docker service create -d --no-resolve-image --name %s %s demo:1", f.service, f.create))
	if f.update != "" {
		r.eventually(time.Minute, func() error { return r.running(f.service) })
		r.sh("docker service update -d " + f.update + " " + f.service)
	}
}

// isFound waits until why finds a fault, and returns its diagnosis.
func (r *rig) isFound(f fault) (d analyzer.Diagnosis) {
	r.t.Helper()
	r.eventually(time.Minute, func() error {
		result, _ := r.whyByWatch(f.service)
		if len(result.Diagnoses) != 1 || result.Diagnoses[0].Cause != f.cause || result.Diagnoses[0].Shape != f.shape {
			return fmt.Errorf("why finds %q, not %s %s", causes(result), f.cause, f.shape)
		}
		d = result.Diagnoses[0]
		return nil
	})
	return d
}

// comesTrue runs a remedy. Where it says that no running task changes, none of the service or of the well ones does.
func (r *rig) comesTrue(d analyzer.Diagnosis, remedy analyzer.Remedy) {
	r.t.Helper()
	if ended := r.does(d, remedy); remedy.Risk == analyzer.NoRisk && len(ended) > 0 {
		r.t.Errorf("%s: no running task should change, and these ended: %v", remedy.Command, ended)
	}
}

// does runs a remedy as it is printed, and waits until it has placed as many tasks as it says beside those that run, or that are
// to run, and on the nodes that it says. It returns what ended of the service and of the well ones.
func (r *rig) does(d analyzer.Diagnosis, remedy analyzer.Remedy) (ended []task) {
	r.t.Helper()
	service, least := d.Service, min(d.Running+remedy.Places, d.Wanted)
	r.t.Logf("$ %s: places %d on %s", remedy.Command, remedy.Places, strings.Join(remedy.On, ", "))
	r.ran[remedy.Command] = true
	watched := append([]string{service}, wellServices...)
	before := r.tasks(watched...)
	r.sh(remedy.Command)
	var after []task
	r.eventually(time.Minute, func() error {
		after = r.tasks(watched...)
		all, placed := only(after, service), without(only(after, service), before)
		if len(all) < least || len(placed) < remedy.Places {
			return fmt.Errorf("%d tasks of %s run, %d of them new: %d ran, and the remedy places %d", len(all), service, len(placed), d.Running, remedy.Places)
		}
		return nil
	})
	there := 0
	placed := without(only(after, service), before)
	for _, t := range placed {
		if slices.Contains(remedy.On, t.node) {
			there++
		}
	}
	if there < remedy.Places || remedy.Restarts == 0 && there < len(placed) {
		r.t.Errorf("%s places %d on %v, and these are new: %v", remedy.Command, remedy.Places, remedy.On, placed)
	}
	return without(before, after)
}

// task is one that is to run and does.
type task struct{ id, service, node string }

// tasks are those that run of some services, if there are such.
func (r *rig) tasks(services ...string) []task {
	r.t.Helper()
	var tasks []task
	lines := r.sh("docker service ps --no-trunc --filter desired-state=running --format '{{.ID}}|{{.Name}}|{{.Node}}|{{.CurrentState}}' $(docker service ls -q)")
	for _, line := range strings.Split(lines, "\n") {
		if f := strings.Split(line, "|"); len(f) == 4 && strings.HasPrefix(f[3], "Running") {
			t := task{f[0], f[1][:strings.LastIndexByte(f[1], '.')], f[2]}
			if slices.Contains(services, t.service) {
				tasks = append(tasks, t)
			}
		}
	}
	return tasks
}

func only(tasks []task, service string) []task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { return t.service != service })
}

func without(tasks, others []task) []task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { return slices.Contains(others, t) })
}

// nodeSpec is what the operator set of a node.
type nodeSpec struct {
	ID      string
	Version struct{ Index uint64 }
	Spec    json.RawMessage
}

func (r *rig) nodeSpecs() []nodeSpec {
	r.t.Helper()
	var specs []nodeSpec
	if err := json.Unmarshal([]byte(r.sh("docker node inspect $(docker node ls -q)")), &specs); err != nil {
		r.t.Fatal(err)
	}
	return specs
}

// restore sets the nodes as they were.
func (r *rig) restore(as []nodeSpec) {
	r.t.Helper()
	for _, now := range r.nodeSpecs() {
		i := slices.IndexFunc(as, func(was nodeSpec) bool { return was.ID == now.ID })
		if i < 0 {
			r.t.Fatalf("node %s is new", now.ID)
		}
		if was := as[i].Spec; string(was) != string(now.Spec) {
			r.post(fmt.Sprintf("/nodes/%s/update?version=%d", now.ID, now.Version.Index), string(was))
		}
	}
}

// staleTask updates a label of a service whose task waits. The next time that the scheduler finds no node for that task, it
// gives it up, and looks at it no more, whatever becomes free. The remedy that is printed makes one that it looks at.
func (r *rig) staleTask() {
	const service = "stale"
	r.sh("docker service create -d --no-resolve-image --name " + service + " --constraint node.labels.stale==no demo:1")
	r.eventually(time.Minute, func() error {
		if len(of(r.events(), "stuck", service)) == 0 {
			return fmt.Errorf("%s is not said to be stuck", service)
		}
		return nil
	})
	r.sh("docker service update -d --label-add changed=yes " + service)
	r.sh("docker service create -d --no-resolve-image --name after demo:1") // when this one runs, the scheduler has looked
	r.eventually(time.Minute, func() error { return r.running("after") })
	r.sh("docker service rm after")
	r.sh("docker node update --label-add stale=no node-3")
	var line event
	r.eventually(time.Minute, func() error {
		changed := of(r.events(), "changed", service)
		if len(changed) == 0 {
			return fmt.Errorf("the log does not say that the cause of %s changed", service)
		}
		line = changed[len(changed)-1]
		return nil
	})
	r.isRight(fault{cause: "not-retried", shape: "stale-spec", names: []string{"node-3"}}, *line.Diagnosis)
	d := r.isFound(fault{service: service, cause: "not-retried", shape: "stale-spec"})
	proven := provenOf(d)
	if len(proven) != 1 {
		r.t.Fatalf("want one proven remedy, not %+v", d.Remedies)
	}
	r.comesTrue(d, proven[0])
	r.sh("docker service rm " + service)
	r.sh("docker node update --label-rm stale node-3")
}
