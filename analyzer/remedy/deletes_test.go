package remedy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
	"github.com/swarmdiag/swarmdiag/collector"
)

func TestARemedyDeletesNothing(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../testdata/*/*/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d cases: %v", len(names), err)
	}
	looked := 0
	look := func(name string, state *collector.State, result analyzer.Result) {
		for _, d := range result.Diagnoses {
			found, err := Find(t.Context(), state, &d)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, r := range found.Remedies {
				looked++
				if what := takesAway(r); what != "" {
					t.Errorf("%s: %q takes something away: %s", name, r.Command, what)
				}
			}
		}
	}
	for _, name := range names {
		state, now := analyzertest.State(t, name)
		look(name, state, analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true}))
	}
	state := stateOf(t, threeReasons()...)
	look("three reasons", state, analyzer.Analyze(state, later, analyzer.Patience{ProvenAtOnce: true}))
	if looked < 40 {
		t.Errorf("only %d remedies were looked at", looked)
	}
}

// takesAway is what of a remedy's command ends or removes something for good; empty where nothing does. What is removed by
// one flag and added by another, in the same or the next command, is changed.
func takesAway(r analyzer.Remedy) string {
	words := strings.Fields(r.Command)
	for i, word := range words {
		before, after := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			after = words[i+1]
		}
		removed, removes := strings.CutSuffix(word, "-rm")
		switch {
		case slices.Contains([]string{"rm", "remove", "prune", "scale", "leave", "kill", "disable", "rollback", "stop"}, word):
			return word
		case word == "--replicas" || word == "--rollback" || word == "--force" && !strings.Contains(r.Command, "docker service update"):
			return word
		case before == "--availability" && word != "active":
			return before + " " + word
		case word == "--constraint-rm" && cannotBeKept(r.Note):
		case removes && strings.HasPrefix(word, "--") && !slices.Contains(words, removed+"-add"):
			return word + " " + after
		}
	}
	return ""
}

// cannotBeKept tells whether a note says why a constraint is taken off.
func cannotBeKept(note string) bool {
	return slices.ContainsFunc([]string{"cannot be kept", "cannot both be kept", "is met by no node"}, func(why string) bool { return strings.Contains(note, why) })
}

func TestWhatTakesSomethingAwayIsSeen(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"docker service rm web":                                                                "rm",
		"docker service scale web=1":                                                           "scale",
		"docker volume prune":                                                                  "prune",
		"docker service update --replicas 1 web":                                               "--replicas",
		"docker service update --mount-rm /data web":                                           "--mount-rm /data",
		"docker service update --constraint-rm 'a' web":                                        "--constraint-rm 'a'",
		"docker node update --availability drain node-1":                                       "--availability drain",
		"docker node rm --force node-1":                                                        "rm",
		"docker node demote node-2 && docker swarm leave --force":                              "leave",
		"docker service update --publish-rm 80 --publish-add 81 web":                           "",
		"docker service update --replicas-max-per-node 2 --force web":                          "",
		"docker node update --label-add a=1 node-1 && docker node update --label-rm a node-1":  "",
		"docker node update --availability active node-1 && docker service update --force web": "",
	} {
		if got := takesAway(analyzer.Remedy{Command: command}); got != want {
			t.Errorf("%q takes away %q: want %q", command, got, want)
		}
	}
	r := analyzer.Remedy{Command: "docker service update --constraint-rm 'a' web", Note: "a cannot be kept: no node meets it"}
	if got := takesAway(r); got != "" {
		t.Errorf("a constraint that cannot be kept takes away %q", got)
	}
}
