//go:build live

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// stack deploys the stack file in place of the service that was made by hand, and compares what Swarm made of the two.
func (r *rig) stack() {
	// The last change of the service was the token.
	want := r.spec("docker service inspect -f '{{json .PreviousSpec}}' swarmdiag")
	r.sh(documented(r.t, "docker service rm"))
	_, _ = r.try("docker rm --force swarmdiag") // where the part before this one did not get as far
	deploy := "cd " + root(r.t) + " && " + documented(r.t, "SWARMDIAG_IMAGE=swarmdiag:latest docker stack deploy")
	r.sh(deploy)
	got := r.spec("docker service inspect -f '{{json .Spec}}' swarmdiag_agent")
	if diff := gocmp.Diff(want, got); diff != "" {
		r.t.Errorf("the stack makes another service (-create +stack):\n%s", diff)
	}
	r.sh("docker node update --availability active node-1")
	r.sh(strings.Replace(deploy, "-c deploy/stack.yml", "-c deploy/stack.yml -c deploy/stack.token.yml", 1))
	r.eventually(2*time.Minute, func() error { return r.agentsRun("swarmdiag_agent") })
	r.eventually(time.Minute, func() error {
		if a := r.fromBridge(manager, "/v1/diagnoses", ""); a.status != http.StatusUnauthorized {
			return fmt.Errorf("without the token: %d %s", a.status, a.text)
		}
		return r.speaks(manager)
	})
	r.willShow("by the stack", func() answer { return r.fromBridge(manager, "/v1/diagnoses", token) })
	r.removeStack()
}

// removeStack removes the stack as documented. Its volume is the host's /run, which must not go with it.
func (r *rig) removeStack() {
	r.t.Helper()
	r.sh(documented(r.t, "docker stack rm"))
	for _, node := range []int{manager, worker, worker2} {
		r.eventually(time.Minute, func() error {
			if out, err := r.try(r.at(node, documented(r.t, "docker volume rm swarmdiag_run"))); err != nil {
				return fmt.Errorf("node %d: %w: %s", node, err, out)
			}
			return nil
		})
		if _, err := r.Exec(r.t.Context(), node, "test", "-S", "/run/docker.sock"); err != nil {
			r.t.Errorf("removing the volume took what is in /run of node %d: %v", node, err)
		}
	}
}

// spec reads a service's spec without its names, and without what one way writes down and the other leaves to Swarm as its default.
func (r *rig) spec(line string) map[string]any {
	r.t.Helper()
	var spec map[string]any
	if err := json.Unmarshal([]byte(r.sh(line)), &spec); err != nil {
		r.t.Fatal(err)
	}
	task := spec["TaskTemplate"].(map[string]any)
	container := task["ContainerSpec"].(map[string]any)
	delete(spec, "Name")
	delete(task, "ForceUpdate") // counts upgrades
	for _, labels := range []map[string]any{spec, container} {
		delete(labels, "Labels") // com.docker.stack
	}
	for _, like := range []struct {
		in    map[string]any
		key   string
		plain string
	}{
		{container, "Init", "false"},
		{container, "StopGracePeriod", "10000000000"},
		{container, "Privileges", `{"CredentialSpec":null,"NoNewPrivileges":false,"SELinuxContext":null}`},
		{container, "Privileges", `{"CredentialSpec":null,"SELinuxContext":null}`},
		{task, "RestartPolicy", `{"Condition":"any","Delay":5000000000,"MaxAttempts":0}`},
	} {
		if text, err := json.Marshal(like.in[like.key]); err == nil && string(text) == like.plain {
			delete(like.in, like.key)
		}
	}
	environment := container["Env"].([]any)
	slices.SortFunc(environment, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
	container["Mounts"] = r.hostFolders(container["Mounts"].([]any))
	return spec
}

// hostFolders are the folders of the host in mounts, whether they are bound or are volumes that bind them: without the mounts
// below them, with none added later, and read-only.
func (r *rig) hostFolders(mounts []any) []string {
	r.t.Helper()
	var folders []string
	for _, m := range mounts {
		var mount struct {
			Type, Source, Target string
			ReadOnly             bool
			BindOptions          struct{ NonRecursive bool }
			VolumeOptions        struct {
				NoCopy       bool
				DriverConfig struct {
					Name    string
					Options struct{ Type, O, Device string }
				}
			}
		}
		text, err := json.Marshal(m)
		if err != nil {
			r.t.Fatal(err)
		}
		if err := json.Unmarshal(text, &mount); err != nil {
			r.t.Fatal(err)
		}
		source, volume := mount.Source, mount.VolumeOptions.DriverConfig
		alone := mount.Type == "bind" && mount.BindOptions.NonRecursive
		if mount.Type == "volume" && volume.Name == "local" && volume.Options.Type == "none" && volume.Options.O == "bind,private" {
			source, alone = volume.Options.Device, mount.VolumeOptions.NoCopy
		}
		folders = append(folders, fmt.Sprintf("%s at %s, read-only %t, alone %t", source, mount.Target, mount.ReadOnly, alone))
	}
	return folders
}
