package remedy

import (
	"strings"
	"testing"

	"github.com/moby/swarmkit/v2/api"
)

func TestWhatIsBeingUpdatedDoesNotMove(t *testing.T) {
	t.Parallel()
	status := func(state api.UpdateStatus_UpdateState) *api.UpdateStatus { return &api.UpdateStatus{State: state} }
	for _, test := range []struct {
		name    string
		status  *api.UpdateStatus
		isDirty bool // the tasks are of another image than the spec
		waits   bool // one more task waits
		moves   bool
	}{
		{name: "a service that was never updated moves", moves: true},
		{name: "one whose update completed moves", status: status(api.UpdateStatus_COMPLETED), moves: true},
		{name: "one whose update is paused stays", status: status(api.UpdateStatus_PAUSED)},
		{name: "one that is being updated stays", status: status(api.UpdateStatus_UPDATING)},
		{name: "one that is rolled back stays", status: status(api.UpdateStatus_ROLLBACK_STARTED)},
		{name: "one whose rollback is paused stays", status: status(api.UpdateStatus_ROLLBACK_PAUSED)},
		{name: "one whose tasks the update would replace anyway stays", isDirty: true},
		{name: "one of which a task waits stays", waits: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			holder, web := service("holder", 3, reserves(2*gib, 0)), service("web", 1, reserves(7*gib, 0))
			tasks := on(holder, 1, 2, 3)
			if test.isDirty {
				holder.Spec = *holder.Spec.Copy()
				holder.Spec.Task.GetContainer().Image = "broken:2"
				holder.SpecVersion = &api.Version{Index: 9}
			}
			if test.waits {
				tasks = append(tasks, waiting(holder, 4, 1)...)
			}
			holder.UpdateStatus = test.status
			state := stateOf(t, node(1), node(2), node(3), holder, tasks, web, waiting(web, 1, 1))
			found, err := Find(t.Context(), state, diagnosedOf(t, state, "web"))
			if err != nil {
				t.Fatal(err)
			}
			moves := false
			for _, r := range found.Remedies {
				moves = moves || strings.HasSuffix(r.Command, " holder")
				if strings.HasSuffix(r.Command, " holder") && r.Restarts != 1 {
					t.Errorf("%d tasks restart, want the one on the node", r.Restarts)
				}
			}
			if moves != test.moves {
				t.Errorf("a remedy updates the holder: %t, want %t", moves, test.moves)
			}
		})
	}
}

func TestAPausedUpdateIsSaidToResume(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		state api.UpdateStatus_UpdateState
		want  string
	}{
		{api.UpdateStatus_PAUSED, "the update of web is paused: this command resumes it"},
		{api.UpdateStatus_ROLLBACK_PAUSED, "the rollback of web is paused: this command resumes it"},
		{api.UpdateStatus_COMPLETED, ""},
	} {
		t.Run(test.state.String(), func(t *testing.T) {
			t.Parallel()
			web := service("web", 1, reserves(12*gib, 0))
			web.UpdateStatus = &api.UpdateStatus{State: test.state}
			remedies := remediesOf(t, stateOf(t, node(1), node(2, drained, memoryOf(16*gib)), web, waiting(web, 1, 1)), "insufficient-memory")
			r := withCommand(t, remedies, "docker service update --reserve-memory 8GiB web")
			if told := strings.Contains(r.Note, "resumes"); told != (test.want != "") || !strings.Contains(r.Note, test.want) {
				t.Errorf("the note is %q, want %q in it", r.Note, test.want)
			}
			if r := withCommand(t, remedies, "docker node update --availability active node-2"); strings.Contains(r.Note, "resumes") {
				t.Errorf("an update of a node resumes none: %q", r.Note)
			}
		})
	}
}
