// Package spelling guesses which known name an unknown one was meant to be, for messages about columns, kernels, flags
// and the like.
package spelling

import (
	"fmt"
	"strings"
)

// DidYouMean ends a message about an unknown name with the known one nearest to it, if one is near.
func DidYouMean(name string, known []string) string {
	if near, ok := nearest(name, known); ok {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// nearest returns the name closest to want by edit distance without regard to
// case, if at least half of it agrees: a farther one would be a bad guess.
func nearest(want string, names []string) (string, bool) {
	const longest = 100 // a longer word is no typing error, and the distance is quadratic
	best, found, distance := "", false, 0
	a := []rune(strings.ToLower(want))
	for _, name := range names {
		b := []rune(strings.ToLower(name))
		if max(len(a), len(b)) > longest {
			continue
		}
		if d := editDistance(a, b); 2*d <= max(len(a), len(b)) && (!found || d < distance) {
			best, found, distance = name, true, d
		}
	}
	return best, found
}

// editDistance is Levenshtein's distance, by rows of the Wagner–Fischer table.
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
