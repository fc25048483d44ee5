package exporter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// mostHolders is how many holders the short report names.
const mostHolders = 3

// hints writes what the evidence advises and the summary does not say already.
func (r *reporter) hints(d *analyzer.Diagnosis) {
	for _, e := range d.Evidence {
		var news []string
		for part := range strings.SplitSeq(e.Hint, "; ") {
			if !says(d.Summary, part) {
				news = append(news, part)
			}
		}
		r.field("hint", strings.Join(news, "; "))
	}
}

// says tells whether a text has every word of a part of a sentence.
func says(text, part string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,;()\n", r) })
	}
	known := map[string]bool{}
	for _, word := range words(text) {
		known[strings.TrimSuffix(word, ":")] = true
	}
	return !slices.ContainsFunc(words(part), func(word string) bool { return !known[strings.TrimSuffix(word, ":")] })
}

// holders names who holds what is asked for, unless the summary does; a single one it always names.
func (r *reporter) holders(d *analyzer.Diagnosis) {
	var named []string
	news := false
	for _, e := range d.Evidence {
		for _, h := range e.Holders {
			if name := heldBy(&e, h); !slices.Contains(named, name) {
				named = append(named, name)
				news = news || !says(d.Summary, name)
			}
		}
	}
	if len(named) < 2 || !news {
		return
	}
	text := strings.Join(named[:min(len(named), mostHolders)], ", ")
	if more := len(named) - mostHolders; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	r.field("held by", text)
}

// heldBy names a holder, its node and, where that is measured, what it holds.
func heldBy(e *analyzer.Evidence, h analyzer.Holder) string {
	node := h.Node
	if node == "" {
		node = e.Node
	}
	name := h.Service + " on " + node
	if e.Unit != "" || h.Amount != 1 {
		name += " (" + quantity(&h.Amount, e.Unit) + ")"
	}
	if h.Stopping {
		name += ", which is stopping"
	}
	return name
}

// evidence writes every fact whole.
func (r *reporter) evidence(d *analyzer.Diagnosis) {
	for _, e := range d.Evidence {
		parts := []string{e.What}
		add := func(name, value string) {
			if value != "" {
				parts = append(parts, name+" "+value)
			}
		}
		add("wanted", e.Wanted)
		add("on", e.Node)
		add("asked", quantity(e.Asked, e.Unit))
		add("free", quantity(e.Free, e.Unit))
		add("of", quantity(e.Total, e.Unit))
		add("short", quantity(e.Short, e.Unit))
		r.field("evidence", strings.Join(parts, ", "))
		for _, found := range e.Found {
			r.field("", foundOn(found))
		}
		for _, h := range e.Holders {
			r.field("", fmt.Sprintf("held by %s: task %s", heldBy(&e, h), h.Task))
		}
		if e.Hint != "" {
			r.field("", e.Hint)
		}
	}
}

// foundOn writes a value and the nodes that have it; a value that is its node's own name says both.
func foundOn(found analyzer.Found) string {
	names := strings.Join(found.Nodes, ", ")
	if names == found.Value {
		return names
	}
	if more := found.Count - len(found.Nodes); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return found.Value + " on " + names
}
