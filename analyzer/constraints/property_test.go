package constraints

import (
	"net"
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
	"github.com/moby/swarmkit/v2/manager/constraint"
	"pgregory.net/rapid"
)

// Generators of rapid must not be shared by tests that run in parallel, so each is made anew.

func randomKeys() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"node.id", "node.hostname", "Node.Hostname", "node.ip", "node.role", "node.platform.os", "node.platform.arch",
		"node.labels.env", "node.labels.Env", "NODE.labels.env", "engine.labels.env", "engine.labels.rack", "node.labels.com.example.rack",
		"node.label.env", "env", "node.name", "node.labels.", "rack", "node.arch",
	})
}

func randomValues() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"prod", "Prod", "production", "prd", "dev", "node-1", "node-2", "node-10", "node-1.example.com", "id-1", "id-2", "manager", "worker",
		"master", "linux", "windows", "x86_64", "amd64", "aarch64", "10.0.0.1", "10.0.0.2", "::ffff:10.0.0.1", "10.0.0.0/24", "10.0.0.0/31",
		"0.0.0.0/0", "::/0", "2001:db8::1", "2001:db8::/32", "10.0.0", "10.0.0.*", "pr*", "^prod$", "10.0.0.1:2377", "(not", "a b",
	})
}

func drawExpressions(t *rapid.T, most int) []string {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		operator := rapid.SampledFrom([]string{"==", "!=", " == ", " != "}).Draw(t, "operator")
		return randomKeys().Draw(t, "key") + operator + randomValues().Draw(t, "value")
	}), 1, most).Draw(t, "expressions")
}

func drawNodes(t *rapid.T, most int) []*api.Node {
	return rapid.SliceOfN(rapid.Custom(drawNode), 1, most).Draw(t, "nodes")
}

func drawNode(t *rapid.T) *api.Node {
	labels := rapid.MapOfN(rapid.SampledFrom([]string{"env", "Env", "envv", "com.example.rack"}), randomValues(), 0, 3)
	n := &api.Node{
		ID:     rapid.SampledFrom([]string{"id-1", "id-2", "id-1234"}).Draw(t, "id"),
		Role:   rapid.SampledFrom([]api.NodeRole{api.NodeRoleManager, api.NodeRoleWorker}).Draw(t, "role"),
		Status: api.NodeStatus{Addr: rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2", "10.0.1.1", "2001:db8::1", "", "nonsense"}).Draw(t, "address")},
		Spec:   api.NodeSpec{Annotations: api.Annotations{Labels: labels.Draw(t, "labels")}},
	}
	if rapid.Bool().Draw(t, "is described") {
		n.Description = &api.NodeDescription{Hostname: randomValues().Draw(t, "hostname")}
	}
	if n.Description != nil && rapid.Bool().Draw(t, "has an engine") {
		n.Description.Engine = &api.EngineDescription{Labels: labels.Draw(t, "engine labels")}
		n.Description.Platform = &api.Platform{OS: randomValues().Draw(t, "os"), Architecture: randomValues().Draw(t, "arch")}
	}
	return n
}

func TestEachExpressionMatchesWhatSwarmMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := drawExpressions(t, 4)
		nodes := drawNodes(t, 6)
		swarm, err := constraint.Parse(texts)
		if err != nil {
			t.Fatal(err)
		}
		expressions, err := Parse(texts)
		if err != nil {
			t.Fatal(err)
		}
		x := Explain(expressions, NewTable(nodes))
		matches := map[*api.Node]bool{}
		for _, n := range x.Matches {
			matches[n] = true
		}
		for _, n := range nodes {
			if want := constraint.NodeMatches(swarm, n); matches[n] != want {
				t.Fatalf("%q on %v: got %v, want %v", texts, n, matches[n], want)
			}
			for _, e := range expressions {
				if got, want := byValue(e, n), e.Matches(n); got != want {
					t.Fatalf("%s on %v: its value says %v, swarmkit %v", e.Text, n, got, want)
				}
			}
		}
	})
}

// byValue is what an expression says by what we show of the node: it holds the two against each other.
func byValue(e Expression, n *api.Node) bool {
	switch {
	case !e.Key.Known():
		return false
	case e.Key.kind == address:
		subnet := rangeOf(e.Value)
		return subnet != nil && subnet.Contains(net.ParseIP(e.Key.Value(n))) == e.Equal
	}
	return strings.EqualFold(e.Key.Value(n), e.Value) == e.Equal
}

func TestEverySuggestionMatchesNodes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := drawExpressions(t, 3)
		nodes := drawNodes(t, 6)
		expressions, err := Parse(texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range Explain(expressions, NewTable(nodes)).Findings {
			if proper, ok := f.with(f.Key.Proper(), f.Value); ok && !f.Key.Known() && len(f.Suggestions) == 0 && len(nodes) > 0 && count(t, nodes, proper.Text) > 0 {
				t.Fatalf("%s would match, and is not suggested for %s", proper.Text, f.Text)
			}
			for _, s := range f.Suggestions {
				if count(t, nodes, s.Text) != len(s.Matches) || len(s.Matches) == 0 {
					t.Fatalf("%q: with %s %d nodes match, %d it says", texts, s.Text, count(t, nodes, s.Text), len(s.Matches))
				}
				all := append([]string{}, texts...)
				all[i] = s.Text
				if count(t, nodes, all...) != len(s.All) {
					t.Fatalf("%q: with %s %d nodes match all, %d it says", texts, s.Text, count(t, nodes, all...), len(s.All))
				}
			}
		}
	})
}

func count(t *rapid.T, nodes []*api.Node, texts ...string) int {
	parsed, err := constraint.Parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	matching := 0
	for _, n := range nodes {
		if constraint.NodeMatches(parsed, n) {
			matching++
		}
	}
	return matching
}

func TestNoNodeSatisfiesAContradictionOrWhatNeverMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := randomKeys().Draw(t, "key")
		texts := []string{
			key + rapid.SampledFrom([]string{"==", "!="}).Draw(t, "operator") + randomValues().Draw(t, "value"),
			key + rapid.SampledFrom([]string{"==", "!="}).Draw(t, "other operator") + randomValues().Draw(t, "other value"),
		}
		expressions, err := Parse(texts)
		if err != nil {
			t.Fatal(err)
		}
		nodes := drawNodes(t, 8)
		if why := contradiction(expressions[0], expressions[1]); why != "" && count(t, nodes, texts...) > 0 {
			t.Fatalf("%q is no contradiction: %s", texts, why)
		}
		if why := expressions[0].Never(); why != "" && count(t, nodes, texts[0]) > 0 {
			t.Fatalf("%s can match: %s", texts[0], why)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"node.labels.env==prod", "node.role != manager", "rack == large", "node.ip==10.0.0.0/8", "a", "node.labels.==x", "==", "a===b", "a!=b==c", "a== ^(b|c)*$",
	} {
		f.Add(text)
	}
	nodes := three()
	f.Fuzz(func(t *testing.T, text string) {
		swarm, swarmErr := constraint.Parse([]string{text})
		expressions, err := Parse([]string{text})
		if (err == nil) != (swarmErr == nil) {
			t.Fatalf("%q: got error %v, swarmkit has %v", text, err, swarmErr)
		}
		if err != nil {
			return
		}
		for _, n := range nodes {
			if got, want := byValue(expressions[0], n), constraint.NodeMatches(swarm, n); got != want {
				t.Fatalf("%q on %s: got %v, swarmkit says %v", text, n.Description.Hostname, got, want)
			}
		}
		for _, s := range Explain(expressions, NewTable(nodes)).Findings[0].Suggestions {
			if _, err := constraint.Parse([]string{s.Text}); err != nil {
				t.Fatalf("%q: %s is suggested: %v", text, s.Text, err)
			}
		}
	})
}
