//go:build live

package e2e

import (
	"strings"

	"github.com/swarmdiag/swarmdiag/collector/dump"
)

// dumps runs the lines that the help prints, on the manager, and looks at what they write; the same for a snapshot.
func (r *rig) dumps() {
	want := r.bothStuck()
	if help := r.sh("swarmdiag why --help"); !strings.Contains(help, dump.HowTo) {
		r.t.Errorf("why --help does not print how to make a dump:\n%s", help)
	}
	folder := r.t.TempDir()
	if said := r.sh("cd " + folder + "\n" + dump.HowTo); said != "" {
		r.t.Errorf("making a dump says %q", said)
	}
	r.finds(want, "swarmdiag why --from "+folder+"/swarm-dump --format json")

	socket, err := r.ControlSocket(manager)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, source := range []string{"docker swarmdiag snapshot", "swarmdiag snapshot --control-socket " + socket} {
		file := folder + "/swarm.json"
		r.sh(source + " -o " + file)
		r.finds(want, "swarmdiag why --from "+file+" --format json")
	}
}
