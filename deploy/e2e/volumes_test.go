//go:build live

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swarmdiag/swarmdiag/deploy/testbed"
)

// prepareVolumes makes the cluster volumes that the faults below need. Of one that its driver has not created nothing is known to
// the scheduler, whatever its availability.
const prepareVolumes = `set -e
for volume in drained paused behind single; do docker volume create --driver folders --type mount $volume; done
until [ "$(docker volume inspect -f '{{with .ClusterVolume.Info}}{{.VolumeID}}{{end}}' single)" = single ]; do sleep 0.2; done
docker volume update --availability drain drained
docker volume update --availability pause paused
docker volume create --driver folders --type mount --availability pause early
docker service create -d --no-resolve-image --name user --mount type=cluster,source=single,target=/data demo:1
docker volume create --driver nosuch --type mount undriven`

// The leader looks 15 s for a driver that is nowhere, and creates no other volume meanwhile: that fault heals first.
func volumeFaults() []fault {
	const cause = "cluster-volume-unavailable"
	mount := func(source string) string { return "--mount type=cluster,source=" + source + ",target=/data" }
	return []fault{
		{
			service: "no-driver", create: mount("undriven"), cause: cause, names: []string{"undriven", "nosuch"}, unproven: true,
			heal: "docker service update -d --mount-rm /data no-driver && docker volume rm --force undriven",
		},
		{service: "drained", create: mount("drained"), cause: cause, names: []string{"availability is drain"}},
		{service: "paused", create: mount("paused"), cause: cause, names: []string{"availability is pause"}},
		{
			service: "early", create: mount("early"), cause: cause, names: []string{"availability is pause"}, unproven: true,
			heal: "docker volume update --availability active early && docker service update -d --mount-rm /data early",
		},
		{service: "not-last", create: mount("behind") + " --mount type=tmpfs,target=/cache", cause: cause, names: []string{"last mount"}},
		{service: "in-use", create: mount("single"), cause: cause, names: []string{"single", "a task uses it"}, unproven: true, heal: "docker service rm user"},
		{service: "no-volume", create: mount("missing"), cause: cause, names: []string{"missing", "no cluster volume has this name"}, unproven: true},
		{service: "no-group", create: mount("group:gold"), cause: cause, names: []string{"gold", "no cluster volume is in this group"}, unproven: true},
	}
}

// Docker 28.2 is the first after 26.0 whose managers create cluster volumes, and 20.10 has none: this runs with one version only.
func TestEveryFaultOfAClusterVolumeIsNamedAndHeals(t *testing.T) {
	r := bringUpWithDriver(t, testbed.Options{Name: "csi", Nodes: 2, Docker: testbed.Docker28})
	r.reportsDriver(2)
	r.deploy()
	r.sh(prepareVolumes)
	r.eventually(time.Minute, func() error { return r.running("user") })

	planted := volumeFaults()
	for _, f := range planted {
		r.make(f)
	}
	r.eventually(time.Minute, func() error { return r.allSaid("stuck", planted) })
	events := r.events()
	for _, f := range planted {
		t.Run(f.service+" is named", func(t *testing.T) { r.with(t).isNamed(f, events) })
	}
	for _, f := range planted {
		t.Run(f.service+" heals", func(t *testing.T) { r.with(t).healVolume(f) })
	}
	r.areResolved(planted)
}

// Docker 27 has the driver, and does not come to ask it.
func TestALeaderThatHasNoDriverCreateWhatIsOfAClusterVolumeIsNamed(t *testing.T) {
	r := bringUpWithDriver(t, testbed.Options{Name: "csi27", Nodes: 1, Docker: testbed.Docker27})
	r.sh("docker volume create --driver folders --type mount data")
	f := fault{
		service: "web", create: "--mount type=cluster,source=data,target=/data", cause: "cluster-volume-unavailable",
		names: []string{"its driver folders has not created it yet", "moby/moby#48133", testbed.Docker27},
	}
	r.make(f)
	r.isRight(f, r.isFound(f))
	r.eventually(time.Minute, func() error {
		log, err := os.ReadFile(filepath.Join(filepath.Dir(r.Socket(1)), "log"))
		if err == nil && !strings.Contains(string(log), "does not implement PluginAddr") {
			err = errors.New("the leader does not log that it cannot ask the driver")
		}
		return err
	})
}

// bringUpWithDriver gives a swarm whose nodes have the driver, and a docker command that knows cluster volumes.
func bringUpWithDriver(t *testing.T, o testbed.Options) *rig {
	r := bringUp(t, o)
	folder, _ := r.fetched(testbed.Docker28)
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	r.installDriver(o.Nodes)
	return r
}

// installDriver makes deploy/testbed/csi a managed plugin of so many nodes.
func (r *rig) installDriver(nodes int) {
	r.t.Helper()
	folder := r.t.TempDir()
	build := exec.CommandContext(r.t.Context(), "go", "build", "-trimpath", "-o", filepath.Join(folder, "rootfs", "csi"), "github.com/swarmdiag/swarmdiag/deploy/testbed/csi")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		r.t.Fatalf("build the CSI driver: %v\n%s", err, out)
	}
	r.sh("cp " + filepath.Join(root(r.t), "deploy", "testbed", "csi", "config.json") + " " + folder)
	for node := 1; node <= nodes; node++ {
		r.docker(node, "plugin", "create", "folders", folder)
		r.docker(node, "plugin", "enable", "folders")
	}
}

// reportsDriver waits until so many nodes tell the managers of the driver, which they do every 20 s.
func (r *rig) reportsDriver(nodes int) {
	r.t.Helper()
	r.eventually(time.Minute, func() error {
		for node := 1; node <= nodes; node++ {
			name := fmt.Sprintf("node-%d", node)
			if r.docker(1, "node", "inspect", "-f", "{{range .Description.CSIInfo}}{{.NodeID}}{{end}}", name) == "" {
				return fmt.Errorf("%s reports no CSI driver", name)
			}
		}
		return nil
	})
}

// healVolume runs the first remedy as it is printed, proven or not: what a driver makes of docker volume create no copy can show.
func (r *rig) healVolume(f fault) {
	result, _ := r.why(f.service)
	if len(result.Diagnoses) != 1 || result.Diagnoses[0].Remedies == nil {
		r.t.Fatalf("why finds %s, and remedies %v", causes(result), result.Diagnoses)
	}
	d := result.Diagnoses[0]
	r.t.Logf("docker says %q", d.DockerSays)
	switch proven := provenOf(d); {
	case f.unproven != (len(proven) == 0):
		r.t.Errorf("the remedies are not proven as they should: %+v", d.Remedies)
	case len(proven) > 0:
		r.comesTrue(d, proven[0])
	case f.heal != "":
		r.sh(f.heal)
	case len(d.Remedies) != 1:
		r.t.Fatalf("want one remedy, not %+v", d.Remedies)
	default:
		r.t.Logf("$ %s", d.Remedies[0].Command)
		r.sh(d.Remedies[0].Command)
	}
	r.eventually(time.Minute, func() error { return r.running(f.service) })
}
