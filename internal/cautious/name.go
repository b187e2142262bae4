package cautious

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/internal/spelling"
)

// mostName is the largest number of characters of a name in a sentence.
const mostName = 60

// Name returns a column's name, or a category, as it stands in a sentence. It cuts a long name. It quotes a name that
// isn't plain text on one line, or that may pass for a sentence. Names mustn't speak in a certificate's voice.
func Name(name string) string {
	name = spelling.Cut(name, mostName)
	// Some characters that can't be printed change the direction of the line's text, or end the line.
	if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) && c != '\u00a0' && c != '\u202f' }) ||
		strings.Contains(name, ". ") || strings.Contains(name, ": ") {
		return strconv.Quote(name)
	}
	return name
}
