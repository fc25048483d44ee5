package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmdiag/swarmdiag/analyzer/whatif"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	healthyCase    = "testdata/cases/healthy"
	fragmentedCase = "testdata/cases/memory-fragmented"
)

// The scheduler takes either of equal nodes: these leave it no choice, or use all alike.
func TestWhatTryPrints(t *testing.T) {
	for name, test := range map[string]struct {
		from, args string
		status     int
	}{
		"scale":                {healthyCase, "service scale web=6", 0},
		"start-first-no-room":  {healthyCase, "service update --reserve-memory 100G --update-order start-first --update-parallelism 2 web", 2},
		"max-replicas":         {healthyCase, "service update --replicas-max-per-node 1 --update-order start-first --force web", 2},
		"host-port":            {"testdata/cases/host-port", "service update --force --update-order start-first holder", 2},
		"host-port-moved":      {"testdata/cases/host-port", "service update --publish-rm published=9000,target=8080,mode=host --publish-add published=9001,target=8080,mode=host --constraint-add node.hostname==node-2 web", 0},
		"global-nowhere":       {healthyCase, "service update --constraint-add node.labels.nope==1 api", 2},
		"global-loses":         {healthyCase, "service update --constraint-add node.hostname!=node-2 api", 2},
		"create-nowhere":       {healthyCase, "service create --name agent --mode global --constraint node.labels.nope==1 image", 2},
		"create":               {healthyCase, "service create --name big --replicas 4 --reserve-memory 20G image", 2},
		"drain":                {fragmentedCase, "node update --availability drain node-3", 0},
		"label":                {"testdata/cases/global-no-node", "node update --label-add gpu=true node-2", 0},
		"node-add":             {fragmentedCase, "node add --like node-1", 2},
		"stack":                {healthyCase, "stack deploy -c testdata/try/shop.yml shop", 2},
		"scale-frees-room":     {"testdata/cases/constraint-and-memory", "service scale filler=0", 0},
		"update-frees-room":    {fragmentedCase, "service update --reserve-memory 1G filler", 0},
		"no-address":           {"testdata/cases/net-exhausted", "service scale web=21", 2},
		"scale-twice":          {healthyCase, "service scale web=5 web=6", 0},
		"nothing-moves":        {healthyCase, "service update --update-parallelism 2 web", 0},
		"constraint-corrected": {"testdata/cases/constraint-value", "service update --constraint-rm node.labels.env==production --constraint-add node.labels.env==prod web", 0},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := swarmdiag(t, append([]string{"try", "--from", test.from}, strings.Fields(test.args)...)...)
			if status != test.status {
				t.Errorf("status %d, want %d\n%s", status, test.status, stderr)
			}
			golden(t, filepath.Join("try", name+".txt"), stdout)
		})
	}
}

func TestTryTakesItsOptionsOnEitherSide(t *testing.T) {
	t.Setenv(contentTrust, "1") // no server is asked all the same: there is none by that name
	t.Setenv("DOCKER_CONTENT_TRUST_SERVER", "https://notary.invalid")
	_, before, _ := swarmdiag(t, "try", "--from", healthyCase, "--format", "json", "service", "update", "--image", "other:1", "web")
	_, after, stderr := swarmdiag(t, "try", "service", "update", "--image", "other:1", "web", "--from", healthyCase, "--format", "json")
	var outcome whatif.Outcome
	if err := json.Unmarshal([]byte(after), &outcome); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if before != after || !outcome.PlacesAll || outcome.Services[0].Update.Replaces != 3 {
		t.Errorf("before the command:\n%s\nafter it:\n%s", before, after)
	}
}

func TestTryNamesASecretWhoseNameIsLikeACredentials(t *testing.T) {
	_, stdout, stderr := swarmdiag(t, "try", "--from", healthyCase, "stack", "deploy", "-c", "testdata/try/secrets.yml", "shop")
	for _, name := range []string{"db-password", "api_token"} {
		if want := "not checked: whether there is a secret named " + name + "\n"; !strings.Contains(stdout+"\n", want) {
			t.Errorf("does not say %q:\n%s%s", want, stdout, stderr)
		}
	}
}

func TestBadInputToTryGetsDockersErrorAndStatus1(t *testing.T) {
	for name, test := range map[string]struct{ args, says string }{
		"an unknown flag":     {"service update --bogus web", "unknown flag: --bogus\n\nUsage:  swarmdiag try service update [OPTIONS] SERVICE\n"},
		"an unknown service":  {"service update wbe", "Error response from daemon: service wbe not found"},
		"a refused spec":      {"service update --reserve-memory 1M web", "Must be at least 4MiB"},
		"an unknown command":  {"volume create x", "nothing to try by the name of \"volume\""},
		"a service removed":   {"service rm web", "unknown command: swarmdiag try service rm"},
		"no service":          {"service update", "'swarmdiag try service update' requires 1 argument"},
		"too many tasks":      {"service scale web=3000000", "service web would have 3000000 tasks: a change is tried that makes at most 20000 more"},
		"a broken stack file": {"stack deploy -c testdata/try/broken.yml shop", "Additional property replica is not allowed"},
		"an unknown format":   {"--format xml service scale web=1", "it is one of table, json"},
		"no node to be like":  {"node add node-4", "like"},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := swarmdiag(t, append([]string{"try", "--from", healthyCase}, strings.Fields(test.args)...)...)
			if status != 1 || stdout != "" || !strings.Contains(stderr, test.says) || strings.Count(stderr, "swarmdiag: ") != 1 {
				t.Errorf("status %d, want 1 and %q\nstdout: %s\nstderr: %s", status, test.says, stdout, stderr)
			}
		})
	}
}

func TestTryOnADumpWithoutTasksSaysWhatItLacks(t *testing.T) {
	status, _, stderr := swarmdiag(t, "try", "--from", filepath.Join(healthyCase, "nodes.json"), "service", "scale", "web=2")
	if status != 1 || !strings.Contains(stderr, "tasks") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestTriesOwnOptionsDoNotStandInTheWayOfARollback(t *testing.T) {
	status, stdout, stderr := swarmdiag(t, "try", "--from", "testdata/cases/update-paused", "service", "update", "--rollback", "web")
	if status != 0 || !strings.Contains(stdout, "Every task of web would be placed.") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
}

// golden compares with a file of testdata, which -update writes.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}
