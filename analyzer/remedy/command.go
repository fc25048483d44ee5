package remedy

import (
	"slices"
	"strings"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// serviceUpdate waits until what it made runs, or for ever.
const serviceUpdate = "docker service update"

// command is one docker command: "docker service update", flags, and what it is done to.
type command struct {
	verb   string
	flags  []string // each a flag and its value, quoted for a shell
	object string
}

// flag writes a flag and its value for a shell.
func flag(name, value string) string { return name + " " + analyzer.Quote(value) }

func (c command) String() string {
	words := append([]string{c.verb}, c.flags...)
	if c.object != "" {
		words = append(words, analyzer.Quote(c.object))
	}
	return strings.Join(words, " ")
}

// line writes commands that run one after the other, each if the one before went well.
func line(commands []command) string {
	texts := make([]string, len(commands))
	for i, c := range commands {
		texts[i] = c.String()
	}
	return strings.Join(texts, " && ")
}

// merge makes one command of all that are done to the same object: two updates of a service would restart it twice.
func merge(commands []command) []command {
	var merged []command
	for _, c := range commands {
		i := slices.IndexFunc(merged, func(m command) bool { return m.verb == c.verb && m.object == c.object })
		if i < 0 {
			merged = append(merged, command{c.verb, slices.Clone(c.flags), c.object})
			continue
		}
		for _, f := range c.flags {
			if !slices.Contains(merged[i].flags, f) {
				merged[i].flags = append(merged[i].flags, f)
			}
		}
	}
	return merged
}
