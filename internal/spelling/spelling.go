// Package spelling guesses which known name was meant by an unknown name, for messages about
// columns, kernels, flags and the like.
package spelling

import (
	"fmt"
	"strings"

	"github.com/krigo-gp/krigo/internal/lists"
)

// DidYouMean returns the end of a message about an unknown name.
// It suggests the known name with the smallest edit distance, without regard to case, if at least
// half of it agrees. A name farther away would be a bad guess.
func DidYouMean(name string, known []string) string {
	const longest = 100 // a longer word is no typing error, and the distance takes quadratic time
	best := ""
	least := -1
	a := []rune(strings.ToLower(name))
	for _, near := range known {
		b := []rune(strings.ToLower(near))
		if max(len(a), len(b)) > longest {
			continue
		}
		if d := editDistance(a, b); 2*d <= max(len(a), len(b)) && (least < 0 || d < least) {
			best = near
			least = d
		}
	}
	if least < 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance returns Levenshtein's distance, by rows of the Wagner–Fischer table.
func editDistance(a, b []rune) int {
	row := lists.To(len(b)+1, func(j int) int { return j })
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
