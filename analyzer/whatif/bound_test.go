package whatif

import (
	"math"
	"testing"

	"github.com/swarmdiag/swarmdiag/analyzer/analyzertest"
)

func TestAChangeThatMakesTooManyTasksIsRefused(t *testing.T) {
	t.Parallel()
	web := service("web", 1, 1)
	both := made(service("one", mostTasks/2, 0))
	both.Services = append(both.Services, made(service("two", mostTasks/2+1, 0)).Services...)
	for name, change := range map[string]Change{
		"more replicas":                updated(web, false, scaled(mostTasks+2)),
		"more than a number can hold":  updated(web, false, scaled(math.MaxUint64)),
		"a job":                        made(service("job", 0, 0, jobOf(0, mostTasks+1))),
		"services that do so together": both,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Try(t.Context(), analyzertest.StateOf(t, web, running(web, "a"), node("a", 8)), change, start); err == nil {
				t.Error("it is tried")
			}
		})
	}
}

func TestWhatAServiceHasIsNotCountedAsMade(t *testing.T) {
	t.Parallel()
	web := service("web", 1, 1)
	state := analyzertest.StateOf(t, web, running(web, "a"), node("a", 8))
	for name, change := range map[string]Change{
		"as many as the bound, and one that runs": updated(web, false, scaled(mostTasks+1)),
		"a job with few at once":                  made(service("job", 0, 0, jobOf(2, mostTasks+1))),
		"a global service":                        made(service("agent", 0, 0, global)),
	} {
		if err := bound(state, change.Services); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
