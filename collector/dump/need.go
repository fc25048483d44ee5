package dump

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmdiag/swarmdiag/collector"
)

// What the gap of a dump that lacks a kind of object whole is called.
const (
	Nodes    = collector.NodesGap
	Services = "services"
	Tasks    = "tasks"
)

// ErrLacks says that a dump lacks a kind of object that the question cannot be answered without.
var ErrLacks = errors.New("cannot be told from it")

// Need returns an ErrLacks that names every one of the kinds that the state has a gap in, with the shell lines that make it; nil
// where it has none. question is what is asked: "what is stuck".
func Need(state *collector.State, question string, kinds ...string) error {
	var lacks []string
	lines := ""
	for _, kind := range []struct{ what, lines string }{{Nodes, makeNodes}, {Services, makeServices}, {Tasks, makeTasks}} {
		isIt := func(gap collector.Gap) bool { return gap.What == kind.what }
		if slices.Contains(kinds, kind.what) && slices.ContainsFunc(state.Gaps, isIt) {
			lacks = append(lacks, kind.what)
			lines += kind.lines
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("%s %w, since it lacks the %s. On a manager, in the same folder, run\n\n%s", question, ErrLacks, strings.Join(lacks, " and the "), lines)
}
