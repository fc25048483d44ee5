package constraints

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/swarmkit/v2/api"
)

// three is a manager and two workers.
func three() []*api.Node {
	return []*api.Node{
		testNode("node-1", api.NodeRoleManager, "10.0.0.1", map[string]string{"Zone": "east"}, map[string]string{"rack": "r1"}),
		testNode("node-2", api.NodeRoleWorker, "10.0.0.2", map[string]string{"env": "prod", "tier": "large"}, map[string]string{"rack": "r2"}),
		testNode("node-3", api.NodeRoleWorker, "10.0.1.3", nil, nil),
	}
}

func testNode(name string, role api.NodeRole, address string, labels, engine map[string]string) *api.Node {
	return &api.Node{
		ID:     "id0" + strings.ReplaceAll(name, "-", "") + "abcdefghij",
		Role:   role,
		Spec:   api.NodeSpec{Annotations: api.Annotations{Labels: labels}},
		Status: api.NodeStatus{Addr: address},
		Description: &api.NodeDescription{
			Hostname: name,
			Platform: &api.Platform{OS: "linux", Architecture: "x86_64"},
			Engine:   &api.EngineDescription{Labels: engine},
		},
	}
}

func namesOf(nodes []*api.Node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		if names[i] = n.ID; n.Description != nil {
			names[i] = n.Description.Hostname
		}
	}
	return strings.Join(names, " ")
}

func mustParse(t *testing.T, texts ...string) []Expression {
	t.Helper()
	expressions, err := Parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	return expressions
}

func TestSuggestionsNameWhatWasMeant(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, written string
		first         string // the first suggestion and the nodes that match it; empty for none
	}{
		{"a near value", "node.labels.env==prd", "node.labels.env==prod: node-2"},
		{"a longer form of a value", "node.labels.env==production", "node.labels.env==prod: node-2"},
		{"a label key in another case", "node.labels.zone==east", "node.labels.Zone==east: node-1"},
		{"a near label key", "node.labels.teir==large", "node.labels.tier==large: node-2"},
		{"a near label key in another case with a near value", "node.labels.zone==easst", "node.labels.Zone==east: node-1"},
		{"an engine label taken for a node label", "node.labels.rack==r2", "engine.labels.rack==r2: node-2"},
		{"a node label taken for an engine label", "engine.labels.env==prod", "node.labels.env==prod: node-2"},
		{"a label without its prefix", "tier == large", "node.labels.tier==large: node-2"},
		{"a label without labels in its prefix", "node.env==prod", "node.labels.env==prod: node-2"},
		{"an engine label without its prefix", "rack==r1", "engine.labels.rack==r1: node-1"},
		{"label for labels", "node.label.env==prod", "node.labels.env==prod: node-2"},
		{"a mistyped prefix", "node.lables.env==prod", "node.labels.env==prod: node-2"},
		{"an unknown key with !=", "node.label.env!=prod", "node.labels.env!=prod: node-1 node-3"},
		{"an unknown key with != for a label that no node has", "node.label.gpu!=none", "node.labels.gpu!=none: node-1 node-2 node-3"},
		{"name for hostname", "node.name==node-3", "node.hostname==node-3: node-3"},
		{"an attribute without its prefix", "hostname==node-3", "node.hostname==node-3: node-3"},
		{"a mistyped attribute", "node.hotsname==node-3", "node.hostname==node-3: node-3"},
		{"arch without platform", "node.arch==amd64", "node.platform.arch==x86_64: node-1 node-2 node-3"},
		{"Go's name of an architecture", "node.platform.arch==amd64", "node.platform.arch==x86_64: node-1 node-2 node-3"},
		{"a distribution taken for the operating system", "node.platform.os==ubuntu", "node.platform.os==linux: node-1 node-2 node-3"},
		{"an architecture that no node has", "node.platform.arch==arm64", ""},
		{"an operating system that no node has", "node.platform.os==windows", ""},
		{"an old word for manager", "node.role==master", "node.role==manager: node-1"},
		{"the plural of a role", "node.role==workers", "node.role==worker: node-2 node-3"},
		{"a qualified hostname", "node.hostname==node-2.example.com", "node.hostname==node-2: node-2"},
		{"a mistyped hostname", "node.hostname==node2", "node.hostname==node-2: node-2"},
		{"an address taken for a hostname", "node.hostname==10.0.0.1", "node.ip==10.0.0.1: node-1"},
		{"a hostname taken for an id", "node.id==node-3", "node.hostname==node-3: node-3"},
		{"the beginning of an id", "node.id==id0node2", "node.id==id0node2abcdefghij: node-2"},
		{"an address with a port", "node.ip==10.0.0.2:2377", "node.ip==10.0.0.2: node-2"},
		{"the beginning of an address", "node.ip==10.0.0", "node.ip==10.0.0.0/24: node-1 node-2"},
		{"an address with a wildcard", "node.ip!=10.0.0.*", "node.ip!=10.0.0.0/24: node-3"},
		{"a hostname taken for an address", "node.ip==node-1", "node.hostname==node-1: node-1"},
		{"a glob", "node.labels.env==pr*", "node.labels.env==prod: node-2"},
		{"a regular expression", "node.labels.tier==^(small|large)$", "node.labels.tier==large: node-2"},
		{"a label that no node has", "node.labels.gpu==true", ""},
		{"a value that no node has", "node.labels.env==staging", ""},
		{"a value that is right", "node.labels.env==PROD", ""},
		{"a known key with !=", "node.platform.os!=linux", ""},
		{"a label without a name", "node.labels.==prod", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			finding := Explain(mustParse(t, test.written), NewTable(three())).Findings[0]
			got := ""
			if len(finding.Suggestions) > 0 {
				s := finding.Suggestions[0]
				got = s.Text + ": " + namesOf(s.Matches)
			}
			if got != test.first {
				t.Errorf("%s: got %q of %d, want %q", test.written, got, len(finding.Suggestions), test.first)
			}
		})
	}
}

func TestContradictionsAreProvenWithoutNodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		why  string
	}{
		{"node.labels.a==x", "node.labels.a==y", "no node's a is both x and y"},
		{"node.labels.a==x", "node.labels.a==X", ""},
		{"node.labels.a==x", "node.labels.A==y", ""},
		{"node.labels.a==x", "engine.labels.a==y", ""},
		{"node.labels.a!=X", "node.labels.a==x", "no node's a is x and not X"},
		{"node.labels.a!=x", "node.labels.a!=y", ""},
		{"node.hostname==node-1", "NODE.HOSTNAME==node-2", "no node's node.hostname is both node-1 and node-2"},
		{"node.id==abc", "node.id!=abc", "no node's node.id is abc and not abc"},
		{"node.role==manager", "node.role==worker", "no node's node.role is both manager and worker"},
		{"node.role!=manager", "node.role!=worker", "every node is a manager or a worker"},
		{"node.role!=manager", "node.role!=Manager", ""},
		{"node.role==manager", "node.role!=worker", ""},
		{"node.platform.os==linux", "node.platform.os==windows", "no node's node.platform.os is both linux and windows"},
		{"node.ip==10.0.0.0/24", "node.ip==10.0.1.0/24", "no node's node.ip is both 10.0.0.0/24 and 10.0.1.0/24"},
		{"node.ip==10.0.0.0/16", "node.ip==10.0.1.0/24", ""},
		{"node.ip==10.0.0.1", "node.ip==10.0.0.0/24", ""},
		{"node.ip==10.0.0.1", "node.ip==2001:db8::1", "no node's node.ip is both 10.0.0.1 and 2001:db8::1"},
		{"node.ip==10.0.0.1", "node.ip!=10.0.0.0/24", "no node's node.ip is 10.0.0.1 and not 10.0.0.0/24"},
		{"node.ip==10.0.0.0/24", "node.ip!=10.0.0.1", ""},
		{"node.ip==10.0.0.0/25", "node.ip!=10.0.0.0/24", "no node's node.ip is 10.0.0.0/25 and not 10.0.0.0/24"},
		{"node.ip==nonsense", "node.ip==other", ""},
		{"node.name==a", "node.name==b", ""},
	}
	for _, test := range tests {
		t.Run(test.a+" and "+test.b, func(t *testing.T) {
			t.Parallel()
			e := mustParse(t, test.a, test.b)
			if got := contradiction(e[0], e[1]); got != test.why {
				t.Errorf("got %q, want %q", got, test.why)
			}
		})
	}
}

func TestNeverTellsWhatCanMatchOnNoCluster(t *testing.T) {
	t.Parallel()
	never := []string{"node.name==a", "node.name!=a", "node.labels.!=a", "node.ip==10.0.0", "node.ip!=nonsense", "node.role==master", "rack==a"}
	for _, text := range never {
		if mustParse(t, text)[0].Never() == "" {
			t.Errorf("%s can match, it says", text)
		}
	}
	for _, text := range []string{"node.role!=master", "node.labels.a==b", "Node.IP==10.0.0.0/8", "ENGINE.LABELS.a!=b", "node.role==MANAGER"} {
		if why := mustParse(t, text)[0].Never(); why != "" {
			t.Errorf("%s can match, yet: %s", text, why)
		}
	}
}

func TestProperWritesKeysAsSwarmKnowsThem(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"node.label.env": "node.labels.env", "node.lables.a.b": "node.labels.a.b", "engine.label.rack": "engine.labels.rack",
		"env": "node.labels.env", "node.env": "node.labels.env", "engine.storage": "engine.labels.storage",
		"labels.env": "node.labels.env", "nodetype": "node.labels.nodetype", "com.example.disk": "node.labels.com.example.disk",
		"node.name": "node.hostname", "node.arch": "node.platform.arch", "role": "node.role", "node.rol": "node.role",
		"node.labels.": "", "engine.labels": "",
	} {
		if got := ParseKey(written).Proper(); got != want {
			t.Errorf("%s: got %q, want %q", written, got, want)
		}
	}
}

func TestExplainTellsHowCloseNodesCome(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		constraints []string
		want        string
	}{
		{
			"two that exclude each other", []string{"node.role==manager", "node.hostname==node-3"},
			"exclusive node.role==manager, node.hostname==node-3; closest node-1 fails node.hostname==node-3",
		},
		{
			"a contradiction is not told twice", []string{"node.role==manager", "node.role==worker"},
			"contradiction node.role==manager, node.role==worker; closest node-1 fails node.role==worker",
		},
		{
			"three of which any two go together", []string{"node.role==worker", "node.ip!=10.0.0.2", "node.ip==10.0.0.0/24"},
			"closest node-1 fails node.role==worker",
		},
		{"all match", []string{"node.role==worker", "node.labels.env==prod"}, "matches node-2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, outline(Explain(mustParse(t, test.constraints...), NewTable(three())))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func outline(x Explanation) string {
	var parts []string
	if len(x.Matches) > 0 {
		parts = append(parts, "matches "+namesOf(x.Matches))
	}
	for _, p := range x.Contradictions {
		parts = append(parts, fmt.Sprintf("contradiction %s, %s", p.A.Text, p.B.Text))
	}
	for _, p := range x.Exclusive {
		parts = append(parts, fmt.Sprintf("exclusive %s, %s", p.A.Text, p.B.Text))
	}
	if x.Closest != nil {
		var fails []string
		for _, e := range x.Fails {
			fails = append(fails, e.Text)
		}
		parts = append(parts, fmt.Sprintf("closest %s fails %s", namesOf([]*api.Node{x.Closest}), strings.Join(fails, ", ")))
	}
	return strings.Join(parts, "; ")
}

func TestOfWhatMatchesNodesOnlyWhatMatchesThemAllIsSuggested(t *testing.T) {
	t.Parallel()
	nodes := three()
	nodes[2].Spec.Annotations.Labels = map[string]string{"Env": "prod"}
	x := Explain(mustParse(t, "node.labels.env==prod", "node.hostname==node-3"), NewTable(nodes))
	want := []string{"node.labels.Env==prod"}
	got := []string{}
	for _, f := range x.Findings {
		for _, s := range f.Suggestions {
			got = append(got, s.Text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNodesThatTellNothingOfThemselvesDoNotMatch(t *testing.T) {
	t.Parallel()
	nodes := []*api.Node{{ID: "bare"}, {ID: "empty", Description: &api.NodeDescription{}}}
	for _, text := range []string{
		"node.hostname==a", "node.platform.os==linux", "node.platform.arch==x86_64", "node.labels.a==b", "engine.labels.a==b", "node.ip==10.0.0.1",
	} {
		x := Explain(mustParse(t, text), NewTable(nodes))
		if len(x.Matches) > 0 {
			t.Errorf("%s matches %d nodes", text, len(x.Matches))
		}
		if value := x.Findings[0].Key.Value(nodes[0]) + x.Findings[0].Key.Value(nodes[1]); value != "" {
			t.Errorf("%s: the nodes have %q", text, value)
		}
	}
}

func TestTemplatesAreThereForEveryKnownKey(t *testing.T) {
	t.Parallel()
	keys := []string{"node.labels.a", "engine.labels.a"}
	for _, a := range attributes {
		keys = append(keys, a.name)
	}
	for _, text := range keys {
		if key := ParseKey(text); !strings.Contains(key.Template(), "{{") || !key.Known() {
			t.Errorf("%s has the template %q", text, key.Template())
		}
	}
	if ParseKey("node.name").Template() != "" {
		t.Error("an unknown key has a template")
	}
}

func TestParseRefusesWhatSwarmRefuses(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{"node.labels.a=b"}, {"node.labels.a==b", "a"}, {"a/b==c"}, {"node.labels.a=="}, {"node.labels.a==b,c"}} {
		if e, err := Parse(texts); err == nil {
			t.Errorf("%q parses as %v", texts, e)
		}
	}
	if e := mustParse(t, " node.labels.a  !=  b c "); e[0].Key.label != "a" || e[0].Value != "b c" || e[0].Equal {
		t.Errorf("got key %v, value %q, equal %v", e[0].Key, e[0].Value, e[0].Equal)
	}
}

func TestExplainingManyNodesIsBounded(t *testing.T) {
	t.Parallel()
	var nodes []*api.Node
	for i := range 1000 {
		name := fmt.Sprintf("node-%d", i)
		nodes = append(nodes, testNode(name, api.NodeRoleWorker, "10.0.0.1", map[string]string{fmt.Sprintf("label-%d", i): name}, nil))
	}
	texts := []string{"node.hostname==node-5000", "node.labels.label==node-5", "node.label.label-7==x"}
	x := Explain(mustParse(t, slices.Concat(texts, texts)...), NewTable(nodes))
	for _, f := range x.Findings {
		if len(f.Suggestions) > offers {
			t.Errorf("%s has %d suggestions", f.Text, len(f.Suggestions))
		}
	}
}

func TestTheNameOfANodeThatIsThereIsKeptWhateverElseIsAskedOfIt(t *testing.T) {
	t.Parallel()
	nodes := three()
	nodes[0].Spec.Annotations.Labels = map[string]string{"env": "prod", "name": "node-2"}
	x := Explain(mustParse(t, "node.name==node-3", "node.labels.env==prod"), NewTable(nodes))
	var got []string
	for _, s := range x.Findings[0].Suggestions {
		got = append(got, s.Text)
	}
	if want := []string{"node.hostname==node-3"}; !slices.Equal(got, want) {
		t.Errorf("suggested %q, want %q: any other node is not the one that was named", got, want)
	}
}

func TestAValueThatIsRightIsKept(t *testing.T) {
	t.Parallel()
	for written, want := range map[string][]string{
		"node.name==node-3":       {"node.hostname==node-3"},
		"node.hostnam==node-33":   {"node.hostname==node-3", "node.hostname==node-1", "node.hostname==node-2"},
		"node.labels.teir==large": {"node.labels.tier==large"},
	} {
		var got []string
		for _, s := range Explain(mustParse(t, written), NewTable(three())).Findings[0].Suggestions {
			got = append(got, s.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: suggested %q, want %q", written, got, want)
		}
	}
}
