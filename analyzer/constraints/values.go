package constraints

import (
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/swarmdiag/swarmdiag/analyzer/spelling"
)

// sameValues are the values that mean the same to people and not to Swarm, which compares them letter by letter.
var sameValues = map[kind][][]string{
	platformArch: {
		{"amd64", "x86_64", "x64", "x86-64"},
		{"arm64", "aarch64", "armv8", "arm64v8"},
		{"arm", "armv7l", "armv6l", "armv7", "armhf", "arm32v7"},
		{"386", "i386", "i686", "x86"},
	},
	platformOS: {
		{"linux", "ubuntu", "debian", "centos", "rhel", "fedora", "alpine"},
		{"windows", "win", "windowsservercore", "nanoserver"},
	},
	role: {
		{"manager", "master", "leader"},
		{"worker", "slave", "agent", "node"},
	},
}

// otherValues are the values that nodes have for the key and that may have been meant.
func otherValues(e Expression, key Key, t *Table) []correction {
	taken := e.Key.identifies() && key.identifies() && e.Key.kind != key.kind // for another way to name the node: then it is whole
	if !key.Known() || taken {
		return nil
	}
	if key.kind == address {
		return otherAddresses(e.Value)
	}
	if !e.Equal {
		return nil
	}
	matchesPattern := patternOf(e.Value)
	var found []correction
	for _, value := range t.values(key) {
		apart, near := spelling.Near(e.Value, value)
		switch {
		case value == "" || strings.EqualFold(value, e.Value):
		case meanSame(key.kind, value, e.Value):
			found = append(found, correction{value, fmt.Sprintf("Swarm says %s, not %s", value, e.Value), 1})
		case matchesPattern(value):
			found = append(found, correction{value, "values are compared whole, there are no patterns", 2})
		case near:
			found = append(found, correction{value, "the nearest value is " + value, 1 + apart})
		}
	}
	return found
}

func meanSame(k kind, a, b string) bool {
	return slices.ContainsFunc(sameValues[k], func(same []string) bool {
		return slices.Contains(same, strings.ToLower(a)) && slices.Contains(same, strings.ToLower(b))
	})
}

// patternOf reads a value as people do who expect globs or regular expressions; of any other, nothing matches.
func patternOf(value string) func(string) bool {
	if !strings.ContainsAny(value, patternSigns) {
		return func(string) bool { return false }
	}
	regular, err := regexp.Compile(`(?i)^(?:` + value + `)$`)
	return func(have string) bool {
		glob, globErr := path.Match(strings.ToLower(value), strings.ToLower(have))
		return globErr == nil && glob || err == nil && regular.MatchString(have)
	}
}

// otherAddresses reads a malformed address: with a port, or as the beginning of a subnet ("10.0.0" or "10.0.0.*").
func otherAddresses(value string) []correction {
	if rangeOf(value) != nil {
		return nil
	}
	var found []correction
	if host, _, err := net.SplitHostPort(value); err == nil {
		found = append(found, correction{host, "a node's address has no port", 1})
	}
	parts := strings.Split(strings.TrimSuffix(value, "."), ".")
	for len(parts) > 0 && parts[len(parts)-1] == "*" {
		parts = parts[:len(parts)-1]
	}
	if known := len(parts); known > 0 && known < net.IPv4len {
		for len(parts) < net.IPv4len {
			parts = append(parts, "0")
		}
		found = append(found, correction{fmt.Sprintf("%s/%d", strings.Join(parts, "."), 8*known), "a subnet is written in CIDR notation", 1})
	}
	return found
}
