package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// The bars.
const (
	mostOfScheduler = 0.5
	mostLag         = 10 * time.Millisecond
	mostRemedyTime  = 250 * time.Millisecond
	mostRemedyHeap  = 64 << 20
	mostResident    = 200 << 20
	mostIdle        = 0.01
	mostForLeader   = 0.12
)

// report prints what was measured, a line each.
type report struct {
	out   io.Writer
	short bool // some bar is not met
}

func (r *report) title(text string) { fmt.Fprintf(r.out, "\n# %s\n", text) }

func (r *report) info(format string, args ...any) { fmt.Fprintf(r.out, format+"\n", args...) }

// bar prints one line: name, measured, bar, and whether it is met.
func (r *report) bar(met bool, name, measured, bar string) {
	word := "ok"
	if !met {
		word, r.short = "short", true
	}
	fmt.Fprintf(r.out, "%-52s %-16s %-12s %s\n", name, measured, bar, word)
}

// machine says what this is measured on.
func (r *report) machine() {
	model, memory := "", ""
	for path, into := range map[string]struct {
		key  string
		text *string
	}{"/proc/cpuinfo": {"model name", &model}, "/proc/meminfo": {"MemTotal", &memory}} {
		text, _ := os.ReadFile(path) // the line stays empty where there is none
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == into.key {
				*into.text = strings.TrimSpace(value)
			}
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	fmt.Fprintf(r.out, "%d × %s, %s, Linux %s, %s, %s\n", runtime.NumCPU(), model, memory, strings.TrimSpace(string(kernel)), runtime.GOARCH, runtime.Version())
}

func (r *report) diagnosis(c costs) {
	r.info("scheduler's own pass: %v, %d allocations, %d MiB", ms(c.theirs.time), c.theirs.allocs, c.theirs.bytes>>20)
	r.info("whole diagnosis: %v, %d allocations, %d MiB", ms(c.ours.time), c.ours.allocs, c.ours.bytes>>20)
	r.bar(c.ratio() <= mostOfScheduler, "whole diagnosis, of the scheduler's own pass", fmt.Sprintf("%.2f", c.ratio()), fmt.Sprintf("≤ %.2f", mostOfScheduler))
}

func (r *report) events(l lags) {
	r.bar(l.task <= mostLag, "a task's event to the diagnosis it changes, median", ms(l.task), "≤ "+ms(mostLag))
	r.bar(l.node <= mostLag, "a node's event to the diagnoses it changes, median", ms(l.node), "≤ "+ms(mostLag))
	r.info("of that the engine's own time, medians: %s and %s; the longest event of all: %s", ms(l.taskLook), ms(l.nodeLook), ms(l.longest))
}

func (r *report) remedies(each, took, longest time.Duration, peak int64) {
	r.bar(each <= mostRemedyTime, "one verified remedy, median", ms(each), "≤ "+ms(mostRemedyTime))
	r.info("all remedies of one diagnosis: median %s, longest %s", ms(took), ms(longest))
	r.bar(peak <= mostRemedyHeap, "heap above the steady size meanwhile, highest", mib(peak), "≤ "+mib(mostRemedyHeap))
}

func (r *report) agent(now, peak int64, share, rate float64) {
	r.bar(now <= mostResident, "leader's agent, resident", mib(now), "≤ "+mib(mostResident))
	r.info("its highest since it started: %s", mib(peak))
	r.bar(share <= mostIdle, fmt.Sprintf("leader's agent, of a core at %.0f events a second", rate), percent(share), "≤ "+percent(mostIdle))
}

func (r *report) leader(l load) {
	r.info("leader's processor: %s of a core alone, %s watched; a poll takes %.0f ms of it and comes every %v", percent(l.alone), percent(l.watched), l.poll*1000, l.every.Round(time.Second/10))
	r.bar(l.watched <= l.alone*(1+mostForLeader), "leader's processor, watched against alone", more(l.watched/l.alone), "≤ +"+percent(mostForLeader))
	r.info("bytes read: %.0f KiB/s", l.watchedBytes/1024)
	r.bar(l.polled() <= l.alone*(1+mostForLeader), "leader's processor, polled against alone", more(l.polled()/l.alone), "≤ +"+percent(mostForLeader))
	r.info("bytes read: %.0f KiB by a poll, %.0f KiB/s", l.pollBytes/1024, l.pollBytes/1024/l.every.Seconds())
}

func (r *report) growth(all []size) {
	for _, s := range all {
		r.info("%5d nodes, %6d tasks: diagnosis %s, scheduler %s, ratio %.2f; task's event %s, node's event %s; first list %s, state %s",
			s.nodes, s.tasks, ms(s.costs.ours.time), ms(s.costs.theirs.time), s.costs.ratio(), ms(s.lags.task), ms(s.lags.node), ms(s.listed), mib(s.heap))
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func mib(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

func more(ratio float64) string { return fmt.Sprintf("%+.1f %%", (ratio-1)*100) }
