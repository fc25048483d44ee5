package analyzer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/docker/go-units"
	"github.com/moby/swarmkit/v2/api"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// count writes a number and its noun: "1 node", "3 nodes".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// most is how many names a list for people shows.
const most = 5

// list writes names for a person: "node-1, node-2 and 7 more".
func list(names []string) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// amount writes an amount of a resource for a person: "12 GiB of memory", "2 cores", "3 gpu".
func amount(what string, value float64) string {
	if what == filters.Memory {
		return figure(what, value) + " of memory"
	}
	return figure(what, value)
}

// figure writes an amount where the resource is known already: "12 GiB", "2 cores", "3 gpu".
func figure(what string, value float64) string {
	switch {
	case value < 0:
		return "-" + figure(what, -value)
	case what == filters.Memory:
		return units.CustomSize("%.4g %s", value, 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"})
	case what == filters.CPU && value == 1:
		return "1 core"
	case what == filters.CPU:
		return strconv.FormatFloat(value, 'f', -1, 64) + " cores"
	}
	return strconv.FormatFloat(value, 'f', -1, 64) + " " + strings.TrimPrefix(what, filters.GenericPrefix)
}

// ResourceName is a resource's name in a sentence: "memory", "CPU", "gpu".
func ResourceName(what string) string {
	if what == filters.CPU {
		return "CPU"
	}
	return strings.TrimPrefix(what, filters.GenericPrefix)
}

// unitOf is the base unit that amounts of a resource are in; empty for counts.
func unitOf(what string) string {
	switch what {
	case filters.Memory:
		return "bytes"
	case filters.CPU:
		return "cores"
	}
	return ""
}

// taskCheck shows the state a task is in and the one it should come to.
func taskCheck(t *api.Task) Check {
	return Check{
		Command: "docker inspect --type task -f '{{.Status.State}} {{.DesiredState}}' " + t.ID,
		Shows:   stateOf(t) + " " + desiredOf(t),
	}
}

// quote writes a word for a shell in single quotes where it needs them.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
