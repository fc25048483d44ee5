package exporter

import (
	"strconv"

	"github.com/docker/go-units"

	"github.com/swarmdiag/swarmdiag/analyzer/filters"
)

// quantity writes an amount for a person: bytes as GiB, cores as such, counts as they are; "" where there is none.
func quantity(amount *float64, unit string) string {
	if amount == nil {
		return ""
	}
	number := strconv.FormatFloat(*amount, 'f', -1, 64)
	switch unit {
	case "bytes":
		return units.BytesSize(*amount)
	case "":
		return number
	}
	return number + " " + unit
}

func filterNames() []string {
	var names []string
	for _, filter := range filters.All() {
		names = append(names, filter.String())
	}
	return names
}
