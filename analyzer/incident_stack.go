package analyzer

import (
	"fmt"
	"slices"
	"time"
)

const (
	// deployStep is how far apart two services are changed in one docker stack deploy at most.
	deployStep = time.Minute
	// deployEffect is how long after its change a service gets stuck by it at most.
	deployEffect = 10 * time.Minute
)

// changedStacks are the changes of stacks since which two or more services are stuck, of which nothing else was told.
func (p *Pass) changedStacks(told map[string]bool) []*behind {
	stacks := map[string][]*changed{}
	var names []string
	for i := range p.result.Diagnoses {
		d := &p.result.Diagnoses[i]
		at := p.changeBefore(d)
		if d.Stack == "" || told[d.ID] || at.IsZero() {
			continue
		}
		if stacks[d.Stack] == nil {
			names = append(names, d.Stack)
		}
		stacks[d.Stack] = append(stacks[d.Stack], &changed{d, at})
	}
	slices.Sort(names)
	var found []*behind
	for _, name := range names {
		for _, deploy := range deploys(stacks[name]) {
			b := &behind{thing: thing{
				stackChanged, Subject{StackSubject, "", name},
				fmt.Sprintf("stack %s was changed at %s, and since then is stuck", name, deploy[0].at.UTC().Format(time.RFC3339)),
			}}
			services := map[string]bool{}
			for _, c := range deploy {
				b.diagnoses = append(b.diagnoses, c.d)
				b.tasks += c.d.held()
				services[c.d.Service] = true
			}
			if len(services) > 1 {
				found = append(found, b)
			}
		}
	}
	return found
}

// changed is a diagnosis of a service that was changed shortly before.
type changed struct {
	d  *Diagnosis
	at time.Time
}

// changeBefore is when the service was last changed, or made, where it is stuck since then; zero where it is not.
func (p *Pass) changeBefore(d *Diagnosis) time.Time {
	var changed time.Time
	switch s := p.State.Service(d.Subject.ID); {
	case s == nil:
	case d.LastChange != nil:
		changed = d.LastChange.At
	default:
		changed = at(s.Meta.CreatedAt)
	}
	if d.Since.Before(changed) || d.Since.After(changed.Add(deployEffect)) {
		return time.Time{}
	}
	return changed
}

// deploys splits what was changed where a longer time lies between two changes.
func deploys(all []*changed) [][]*changed {
	slices.SortStableFunc(all, func(a, b *changed) int { return a.at.Compare(b.at) })
	var found [][]*changed
	for i, c := range all {
		if i == 0 || c.at.Sub(all[i-1].at) > deployStep {
			found = append(found, nil)
		}
		found[len(found)-1] = append(found[len(found)-1], c)
	}
	return found
}
