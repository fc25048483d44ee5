package analyzertest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/docker/cli/templates"
	"github.com/docker/docker/api/types/swarm"
	"github.com/docker/docker/api/types/volume"
	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer"
)

// verify runs the command of a check on the objects of the case, by docker's own templates, and compares what it prints,
// spaces at the ends of lines aside, with what the check says that it shows.
func verify(t *testing.T, files map[string][]byte, check analyzer.Check) {
	t.Helper()
	words := shellWords(check.Command)
	kind, rest := "", []string(nil)
	switch {
	case len(words) > 4 && words[2] == "inspect":
		kind, rest = words[1], words[3:]
	case len(words) > 5 && words[1] == "inspect" && words[2] == "--type":
		kind, rest = words[3], words[4:]
	}
	if len(rest) < 3 || words[0] != "docker" || rest[0] != "-f" {
		t.Errorf("check %q is no docker inspect -f", check.Command)
		return
	}
	template, err := templates.Parse(rest[1])
	if err != nil {
		t.Errorf("check %q: %v", check.Command, err)
		return
	}
	var printed bytes.Buffer
	for _, name := range rest[2:] {
		o := lookUp(t, files, kind, name)
		if o == nil {
			t.Errorf("check %q names %s, which is no %s of the case", check.Command, name, kind)
			return
		}
		if err := template.Execute(&printed, o); err != nil {
			t.Errorf("check %q: %v", check.Command, err)
		}
		printed.WriteByte('\n')
	}
	if diff := cmp.Diff(trimmed(check.Shows), trimmed(printed.String())); diff != "" {
		t.Errorf("check %q (-it says +it prints):\n%s", check.Command, diff)
	}
}

// lookUp finds an object as docker does, by id or by name; nil where there is none.
func lookUp(t *testing.T, files map[string][]byte, kind, name string) any {
	t.Helper()
	switch kind {
	case "node":
		return find(t, files["nodes.json"], func(n swarm.Node) bool { return n.ID == name || n.Description.Hostname == name })
	case "service":
		return find(t, files["services.json"], func(s swarm.Service) bool { return s.ID == name || s.Spec.Name == name })
	case "task":
		return find(t, files["tasks.json"], func(task swarm.Task) bool { return task.ID == name })
	case "volume":
		return find(t, files["volumes.json"], func(v volume.Volume) bool { return v.Name == name })
	}
	return nil
}

func find[T any](t *testing.T, content []byte, is func(T) bool) any {
	t.Helper()
	if content == nil {
		return nil
	}
	all := decode[[]T](t, "dump", content)
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// shellWords splits a command as a shell does that knows single quotes and backslashes only.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	quoted, escaped := false, false
	for _, r := range command {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\'':
			quoted = !quoted
		case r == '\\' && !quoted:
			escaped = true
		case r == ' ' && !quoted:
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return append(words, word.String())
}

func trimmed(text string) []string {
	lines := strings.Split(strings.TrimRight(text, " \n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
