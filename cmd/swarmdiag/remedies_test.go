package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/swarmdiag/swarmdiag/analyzer"
	"github.com/swarmdiag/swarmdiag/collector"
	"github.com/swarmdiag/swarmdiag/collector/dump"
)

func recorded(t *testing.T, name string) (*collector.State, []analyzer.Diagnosis) {
	t.Helper()
	state, now, err := dump.Read(t.Context(), "testdata/cases/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return state, analyzer.Analyze(state, now, analyzer.Patience{ProvenAtOnce: true}).Diagnoses
}

func TestASearchThatIsCutShortSaysSo(t *testing.T) {
	t.Parallel()
	state, diagnoses := recorded(t, "memory-fragmented")
	if err := addRemedies(t.Context(), state, diagnoses, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	if d := diagnoses[0]; d.Remedies != nil || !slices.Contains(d.Blind, cutShort) {
		t.Errorf("remedies %v, not seen %q", d.Remedies, d.Blind)
	}
}

func TestThatNoMoveWasFoundIsSaid(t *testing.T) {
	t.Parallel()
	state, diagnoses := recorded(t, "memory-fragmented")
	if err := addRemedies(t.Context(), state, diagnoses, time.Minute); err != nil {
		t.Fatal(err)
	}
	if got, want := diagnoses[0].RemedyNotes, []string{"no move of running tasks that was tried frees a node"}; !slices.Equal(got, want) {
		t.Errorf("notes %q: want %q", got, want)
	}
}

func TestNoTimeMeansNoSearch(t *testing.T) {
	t.Parallel()
	state, diagnoses := recorded(t, "memory-fragmented")
	if err := addRemedies(t.Context(), state, diagnoses, 0); err != nil || diagnoses[0].Remedies != nil || len(diagnoses[0].Blind) != 0 {
		t.Errorf("%v, remedies %v, not seen %q", err, diagnoses[0].Remedies, diagnoses[0].Blind)
	}
}

func TestWhatGoesWrongInASearchIsAnError(t *testing.T) {
	t.Parallel()
	_, diagnoses := recorded(t, "memory-fragmented")
	if _, err := findRemedies(t.Context(), nil, &diagnoses[0]); err == nil || !strings.Contains(err.Error(), "please report this") {
		t.Errorf("without a state: %v", err)
	}
}

func TestRemediesAreKeptUntilTheFaultChanges(t *testing.T) {
	t.Parallel()
	r := searchedOnce(t)
	state, diagnoses := r.state, r.open
	if _, d := r.next(time.Now()); d != nil {
		t.Errorf("%s is searched for again at once", d.Service)
	}
	known := slices.Clone(diagnoses)
	if r.add(known); len(known[0].Remedies) == 0 {
		t.Error("what was found is not added")
	}
	r.want(state, nil)
	r.want(state, diagnoses)
	if _, d := r.next(time.Now()); d == nil {
		t.Error("what was resolved and comes again is not searched for")
	}
}

// searchedOnce knows the remedies of one diagnosis.
func searchedOnce(t *testing.T) *remedies {
	t.Helper()
	state, diagnoses := recorded(t, "memory-fragmented")
	r := newRemedies(logrus.NewEntry(logrus.New()))
	r.want(state, diagnoses)
	_, d := r.next(time.Now())
	if d == nil {
		t.Fatal("a new diagnosis is not searched for")
	}
	r.find(t.Context(), state, d)
	return r
}

func TestASearchIsRepeatedInAnotherStateAfterAPause(t *testing.T) {
	t.Parallel()
	r := searchedOnce(t)
	later := time.Now().Add(2 * remedyPause)
	if _, d := r.next(later); d != nil {
		t.Errorf("%s is searched for again in the same state", d.Service)
	}
	other, again := recorded(t, "memory-fragmented")
	r.want(other, again)
	if _, d := r.next(time.Now()); d != nil {
		t.Errorf("%s is searched for again before the pause is over", d.Service)
	}
	_, d := r.next(later)
	if d == nil {
		t.Fatal("in another state nothing is searched for again")
	}
	r.find(t.Context(), other, d)
	third, again := recorded(t, "memory-fragmented")
	r.want(third, again)
	if _, d := r.next(time.Now()); d != nil {
		t.Error("a search that repeats another one is followed by the next without a rest")
	}
}

func TestWhatIsRefusedAsBeforeIsSearchedForMoreRarely(t *testing.T) {
	t.Parallel()
	r := searchedOnce(t)
	r.want(recorded(t, "memory-fragmented"))
	r.took, r.ended = time.Second, time.Now()
	rested := r.ended.Add(remedyShare * r.took)
	if _, d := r.next(rested); d != nil {
		t.Errorf("%s is searched for again as soon as one whose verdicts changed", d.Service)
	}
	if _, d := r.next(r.ended.Add(sameShare * r.took)); d == nil {
		t.Error("nothing is searched for again")
	}
	for _, known := range r.known {
		known.isOld = true
	}
	if _, d := r.next(rested); d == nil {
		t.Error("after its verdicts changed nothing is searched for again")
	}
}

func TestRemediesFromBeforeVerdictsChangedSaySo(t *testing.T) {
	t.Parallel()
	r := searchedOnce(t)
	other, again := recorded(t, "memory-fragmented")
	again[0].Waiting[0].Rows = again[0].Waiting[0].Rows[1:]
	r.want(other, again)
	if r.add(again); len(again[0].Remedies) == 0 || len(again[0].Blind) != 1 || !strings.HasPrefix(again[0].Blind[0], "remedies: found at ") {
		t.Errorf("remedies %v, not seen %q", again[0].Remedies, again[0].Blind)
	}
}
