package cautious

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// mostName are the characters of a name in a sentence.
const mostName = 60

// Name is a column's name, or a category, as it stands in a sentence: in quotes where it isn't plain text on one line,
// or might be taken for a sentence of its own, and cut where it is long. What a table calls its columns mustn't speak
// in a certificate's voice.
func Name(name string) string {
	name = spelling.Cut(name, mostName)
	// Of what isn't printed some turn the line around, or end it.
	if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) && c != '\u00a0' && c != '\u202f' }) ||
		strings.Contains(name, ". ") || strings.Contains(name, ": ") {
		return strconv.Quote(name)
	}
	return name
}
