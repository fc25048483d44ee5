package analyzer

import (
	"slices"
	"strings"

	"github.com/swarmdiag/swarmdiag/analyzer/constraints"
	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// Rule is one cause that can be told apart. Metrics, the catalogue and the documentation follow from its value.
type Rule struct {
	// Cause is the public name: a metric label, and the name of the folder with its cases.
	Cause     string
	Component Component
	// Title is the cause in a few words; Doc says what it means and, after a blank line, what to do.
	Title, Doc string
	// Shapes are the refinements that it tells apart.
	Shapes []string
	// Infers are the fields (collector.Gap.What) that some sources hide and the rule then infers.
	Infers []string

	// Rejects says whether this rule explains a reason why no node takes a pending task; nil for other rules.
	Rejects func(filters.Reason) bool
	// Explain finds out about the reason; it goes with Rejects.
	Explain func(*Waiting, filters.Reason) Finding
	// Reads is what Explain and Why go by, besides the first of the waiting tasks and its service; it goes with Rejects.
	Reads Reads
	// Why says in the matrix what a group of nodes that refuse alike lacks; it goes with Rejects.
	Why func(*Waiting, filters.Reason, []filters.Row) []string
	// Check looks at everything and reports what it finds; nil for rules with Rejects.
	Check func(*Pass, *Rule)
}

// Finding is what a rule found out about one fault: the part of a Diagnosis that differs from cause to cause.
type Finding struct {
	Shape string
	// Summary is one sentence without the service's name: "asks 12 GiB of memory; …".
	Summary  string
	Evidence []Evidence
	Check    []Check
	// Nodes are those whose own fault it is: under maintenance they are silent.
	Nodes []*filters.Node

	// behind is what, besides the service itself, is the matter: it may be behind other diagnoses, too.
	behind []thing
	// keys are those that a rule which reads Keys has read of the nodes; nil where it may have read any.
	keys []constraints.Key
}

var rules []*Rule

func register(r *Rule) *Rule {
	rules = append(rules, r)
	return r
}

// rejectedBy matches the reasons of one filter, for resources those whose kind begins so.
func rejectedBy(filter filters.Name, what ...string) func(filters.Reason) bool {
	return func(r filters.Reason) bool {
		return r.Filter == filter && (len(what) == 0 || strings.HasPrefix(r.What, what[0]))
	}
}

// ruleFor returns the rule that explains a filter's refusal; there is one for each.
func ruleFor(reason filters.Reason) *Rule {
	i := slices.IndexFunc(rules, func(r *Rule) bool { return r.Rejects != nil && r.Rejects(reason) })
	return rules[i]
}

// Rules returns every rule, by component in the order of a task's life, then by cause.
func Rules() []*Rule {
	life := []Component{Orchestrator, Allocator, Scheduler, Agent}
	sorted := slices.Clone(rules)
	slices.SortFunc(sorted, func(a, b *Rule) int {
		if d := slices.Index(life, a.Component) - slices.Index(life, b.Component); d != 0 {
			return d
		}
		return strings.Compare(a.Cause, b.Cause)
	})
	return sorted
}
