// Package spelling tells which of several words a mistyped one was meant to be.
package spelling

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Near tells how far two spellings are apart, case aside: the edits between them, or one more than the edits allowed
// where one is the beginning of the other or its last parts (prod and production, storage and com.example.storage).
// False where they are not near: a third of the longer may be edited, at least one letter, but never the whole word.
func Near(a, b string) (apart int, near bool) {
	shorter, longer := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(shorter) > len(longer) {
		shorter, longer = longer, shorter
	}
	allowed := max(1, len(longer)/3)
	if len(shorter) < 2 {
		return 0, false
	}
	if len(longer)-len(shorter) <= allowed {
		if apart = edits(shorter, longer); apart <= allowed && apart < len(shorter) {
			return apart, true
		}
	}
	s, l := string(shorter), string(longer)
	return allowed + 1, strings.HasPrefix(l, s) || strings.HasSuffix(l, "."+s)
}

// edits counts the letters to insert, delete, replace, or swap with their neighbour (optimal string alignment).
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// Nearest returns those of the words that are near to the given one, the nearest first.
func Nearest(word string, words []string) []string {
	apart := map[string]int{}
	for _, w := range words {
		if distance, near := Near(word, w); near {
			apart[w] = distance
		}
	}
	return slices.SortedFunc(maps.Keys(apart), func(a, b string) int {
		return cmp.Or(cmp.Compare(apart[a], apart[b]), cmp.Compare(a, b))
	})
}
