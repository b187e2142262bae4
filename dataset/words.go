package dataset

import (
	"fmt"
	"strings"
	"unicode"
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

// Shell quotes a word for a shell where it needs that.
func Shell(word string) string {
	plain := func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-+=./:,@%^", c)
	}
	if word != "" && !strings.ContainsFunc(word, func(c rune) bool { return !plain(c) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
