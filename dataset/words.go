package dataset

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clip shortens text from a file for use in a message.
func clip(s string) string {
	const limit = 40
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}

// quoted lists names, at most limit of them, then a count of the rest.
func quoted(names []string, limit int) string {
	var b strings.Builder
	for i, name := range names {
		if i == limit {
			fmt.Fprintf(&b, " and %d more", len(names)-limit)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", clip(name))
	}
	return b.String()
}
