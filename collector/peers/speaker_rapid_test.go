package peers

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTwoNeverSpeakForLongerThanARound lets agents come and go and lose their state, and leadership move, at random:
// a round after it last moved no two speak. Agents ask one after the other, each at its own moments, by the clock of the test.
func TestTwoNeverSpeakForLongerThanARound(t *testing.T) {
	t.Parallel()
	const tick = 100 * time.Millisecond
	managers := []string{"m1", "m2", "m3"}
	nodes := append(slices.Clone(managers), "worker1", "worker2")
	rapid.Check(t, func(draw *rapid.T) {
		c, now, next := newCluster(t, "m1"), time.Unix(0, 0), map[string]time.Time{}
		add := func(node string) {
			c.add(node, func() time.Time { return now })
			next[node] = now.Add(time.Duration(rapid.IntRange(0, 19).Draw(draw, "offset")) * tick)
		}
		for _, node := range nodes {
			add(node)
		}
		together, none := map[[2]string]time.Duration{}, time.Duration(0)
		let := func(pass time.Duration) {
			for end := now.Add(pass); now.Before(end); now = now.Add(tick) {
				for _, node := range nodes {
					if !next[node].After(now) {
						c.agent(node).round(t.Context())
						next[node] = now.Add(roundEvery)
					}
				}
				speakers := c.speakers()
				pairs := map[[2]string]time.Duration{}
				for i, a := range speakers {
					for _, b := range speakers[:i] {
						pair := [2]string{a, b}
						if pairs[pair] = together[pair] + tick; pairs[pair] > roundEvery {
							draw.Fatalf("%v speak for longer than a round", pair)
						}
					}
				}
				if together = pairs; len(speakers) > 0 {
					none = 0
				} else {
					none += tick
				}
			}
		}
		for range rapid.IntRange(1, 8).Draw(draw, "happenings") {
			node := rapid.SampledFrom(nodes).Draw(draw, "node")
			switch rapid.SampledFrom([]string{"lead", "stale", "fresh", "restart", "refuse", "answer"}).Draw(draw, "what") {
			case "lead":
				c.lead(rapid.SampledFrom(managers).Draw(draw, "leader"))
				clear(together) // another comes first now, and who has asked a moment ago asks a round later
			case "stale":
				c.set(node, func(a *agent) { a.fresh = false })
			case "fresh":
				c.set(node, func(a *agent) { a.fresh = !a.refuses })
			case "restart":
				add(node)
			case "refuse": // as good as dead: its source is broken too, which makes it ask at once
				c.set(node, func(a *agent) { a.refuses, a.fresh = true, false })
				next[node] = now
			case "answer":
				c.set(node, func(a *agent) { a.refuses, a.fresh = false, true })
			}
			let(time.Duration(rapid.IntRange(1, 140).Draw(draw, "ticks")) * tick)
		}
		for _, node := range nodes {
			c.set(node, func(a *agent) { a.fresh, a.refuses = true, false })
		}
		let(Patience + 4*roundEvery)
		if none > 0 || len(together) > 0 {
			draw.Fatalf("in the end %v speak", c.speakers())
		}
	})
}
