package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/krigo-gp/krigo/internal/cautious"
)

// whole is a number of things: 45,000.
func whole(n int) string { return cautious.Digits(float64(n), 15) }

// number is any other.
func number(v float64) string { return cautious.Number(v) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return whole(n) + " " + what + "s"
}

// percent is a share of something.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// upper begins a sentence.
func upper(text string) string {
	_, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:n]) + text[n:]
}

// few is a list of names cut to some.
func few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:most], ", "), whole(len(names)-most))
}
