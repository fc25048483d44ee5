package analyzer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheReleasesThatHaveABug(t *testing.T) {
	t.Parallel()
	bugs := map[string]func(string) bool{"forgets": forgets, "abandons": abandons, "loops": loops, "keeps volumes": keepsVolumes}
	for version, want := range map[string]string{
		"17.03.2-ce":     "forgets",
		"17.05.0-ce":     "forgets, loops",
		"17.06.0-ce":     "loops",
		"20.10.3":        "loops",
		"20.10.4":        "abandons, loops",
		"20.10.24+dfsg1": "abandons, loops",
		"25.0.11":        "abandons, keeps volumes, loops",
		"25.0.12":        "abandons, keeps volumes",
		"25.0.13-1":      "abandons, keeps volumes",
		"26.1.5+dfsg1":   "abandons, keeps volumes, loops",
		"27.5.1":         "abandons, keeps volumes, loops",
		"28.2.2":         "abandons, keeps volumes, loops",
		"28.3.0":         "abandons, keeps volumes",
		"29.7.2":         "abandons, keeps volumes",
		"dev":            "",
		"0.0.0-2026":     "",
		"":               "",
	} {
		var got []string
		for _, name := range []string{"abandons", "forgets", "keeps volumes", "loops"} {
			if bugs[name](release(version)) {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("Docker %q (-want +got):\n%s", version, diff)
		}
	}
}
