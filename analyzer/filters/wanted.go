package filters

import "slices"

// Without returns the rows that do not fail a filter.
func Without(rows []Row, filter Name) []Row {
	first := slices.IndexFunc(rows, func(row Row) bool { return row.Verdicts[filter] == Fail })
	if first < 0 {
		return rows
	}
	left := make([]Row, first, len(rows))
	copy(left, rows)
	for _, row := range rows[first:] {
		if row.Verdicts[filter] != Fail {
			left = append(left, row)
		}
	}
	return left
}

// Wanted returns the rows of the nodes where the user wants a task: those that its constraints, platform and plugins leave, in
// this order. Where one of these leaves none, it is told which, and what those before it leave is returned.
func Wanted(rows []Row) (wanted []Row, none Name, isNone bool) {
	for _, filter := range []Name{Constraints, Platform, Plugins} {
		left := Without(rows, filter)
		if len(left) == 0 && len(rows) > 0 {
			return rows, filter, true
		}
		rows = left
	}
	return rows, 0, false
}
