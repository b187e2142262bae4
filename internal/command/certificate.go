package command

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/pacbayes"
)

// counted returns what a bound counts: rows, or groups of rows.
func counted(rows, groups int, which string) string {
	if groups > 0 {
		return fmt.Sprintf("%d %s groups of %d rows", groups, which, rows)
	}
	return fmt.Sprintf("%d %s rows", rows, which)
}

// paragraphs joins texts, and puts an empty line before each of their lines that isn't indented.
func paragraphs(texts ...string) string {
	said := strings.TrimSpace(strings.Join(texts, "\n"))
	return regexp.MustCompile(`\n+(\S)`).ReplaceAllString(said, "\n\n$1")
}

// promises matches the lines of a promise behind its first.
var promises = regexp.MustCompile(
	`^(  |With \d|With the same confidence|No width is guaranteed|Nothing is guaranteed)`)

// parted cuts a certificate's sentence behind its promise.
// The promise is the first line, with the table and the further promises that follow it at once.
func parted(sentence string) (promise, rest string) {
	lines := strings.Split(sentence, "\n")
	end := 1
	for end < len(lines) && promises.MatchString(lines[end]) {
		end++
	}
	return strings.Join(lines[:end], "\n"), strings.Join(lines[end:], "\n")
}

// printCertificate prints a certificate in words:
// what it promises about predictions, then context, then its figures and conditions.
func printCertificate(w io.Writer, m *krigo.Model, c *pacbayes.Certificate, context string) {
	fmt.Fprintln(w, paragraphs(m.Sentence(c), context)+"\n")
	which := "certified"
	switch {
	case m.Terms.Backtest: // a backtest has no bound
		which = "last"
	case c.Route == pacbayes.Direct:
		fmt.Fprintf(w, "  hold-out bound on the mean %.4f (on its square-root form %.4f)\n",
			cautious.RoundUp(c.MeanBound, 4), cautious.RoundUp(c.BoundSqrt, 4))
	default:
		fmt.Fprintf(w, "  bound on a random draw %.4f (on its square-root form %.4f), on the "+
			"mean %.4f\n", cautious.RoundUp(c.Bound, 4), cautious.RoundUp(c.BoundSqrt, 4),
			cautious.RoundUp(c.MeanBound, 4))
	}
	fmt.Fprintf(w, "  from %s: empirical risk %.4f, KL %.2f, grid penalty %.2f, choices %.2f "+
		"nats\n", counted(c.Rows, c.Groups, which), c.EmpiricalRisk, c.KL, c.GridPenalty,
		c.ChoicesPenalty)
	fmt.Fprintln(w, "Conditions")
	for _, s := range c.Conditions {
		fmt.Fprintln(w, "  - "+s)
	}
}
