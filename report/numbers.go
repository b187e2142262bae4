package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/internal/cautious"
)

// whole writes a number of things: 45,000.
func whole(n int) string { return cautious.Digits(float64(n), 15) }

// number writes any other number.
func number(v float64) string { return cautious.Number(v) }

// count returns a number with its noun, such as "1 row" or "1,024 rows".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return whole(n) + " " + what + "s"
}

// upper returns text with a capital letter, to begin a sentence.
func upper(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:n]) + text[n:]
}

// few lists the first names, up to the number most, and counts the other names.
func few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:most], ", "), whole(len(names)-most))
}
