// Package constraints tells why placement constraints leave no node, and what was probably meant. What an expression
// matches is decided by swarmkit's own manager/constraint; this package only takes expressions one by one, looks at what
// the nodes have instead, and tries corrected expressions on them. It decides nothing about tasks.
package constraints

import (
	"fmt"
	"strings"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"
)

// Expression is one placement constraint.
type Expression struct {
	// Text is the expression as it was written.
	Text string
	Key  Key
	// Equal is true for ==, false for !=.
	Equal bool
	Value string

	parsed []constraint.Constraint
}

// patternSigns are what people write who expect globs or regular expressions. Swarm compares values whole.
const patternSigns = `*?[]()+|^$\`

// IsPattern tells whether the value reads as a pattern, which no label was meant to have as it stands.
func (e Expression) IsPattern() bool { return strings.ContainsAny(e.Value, patternSigns) }

// Parse reads expressions. Where one does not parse, swarmkit applies none of them
// (manager/scheduler.ConstraintFilter.SetTask), and neither does this.
func Parse(texts []string) ([]Expression, error) {
	expressions := make([]Expression, 0, len(texts))
	for _, text := range texts {
		e, err := parse(text)
		if err != nil {
			return nil, err
		}
		expressions = append(expressions, e)
	}
	return expressions, nil
}

func parse(text string) (Expression, error) {
	parsed, err := constraint.Parse([]string{text})
	if err != nil {
		return Expression{}, fmt.Errorf("parse constraint %q: %w", text, err)
	}
	// The fields of constraint.Constraint are not exported: cut as constraint.Parse does.
	key, value, equal := strings.Cut(text, "==")
	if !equal {
		key, value, _ = strings.Cut(text, "!=")
	}
	return Expression{
		Text: text, Key: ParseKey(strings.TrimSpace(key)), Equal: equal, Value: strings.TrimSpace(value), parsed: parsed,
	}, nil
}

// Matches tells whether the node satisfies the expression.
func (e Expression) Matches(n *api.Node) bool { return constraint.NodeMatches(e.parsed, n) }

// with returns the expression with another key and value; false where that does not parse.
func (e Expression) with(key, value string) (Expression, bool) {
	operator := "!="
	if e.Equal {
		operator = "=="
	}
	corrected, err := parse(key + operator + value)
	return corrected, err == nil
}

// Never tells why the expression can match no node of any cluster; empty where one could.
func (e Expression) Never() string {
	switch {
	case e.Key.kind == unknown:
		return fmt.Sprintf("%s is no key that Swarm knows, so it matches no node, not even with !=", e.Key.Text)
	case e.Key.kind == address && rangeOf(e.Value) == nil:
		return fmt.Sprintf("%s is neither an address nor a subnet in CIDR notation, so it matches no node, not even with !=", e.Value)
	case e.Key.kind == role && e.Equal && !strings.EqualFold(e.Value, "manager") && !strings.EqualFold(e.Value, "worker"):
		return "a node's role is manager or worker"
	}
	return ""
}
