package command

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/internal/spelling"
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

// certificateWords are a certificate in words: what it promises about predictions, then context,
// then its figures and conditions.
type certificateWords struct {
	M       *krigo.Model
	C       *pacbayes.Certificate
	Context string
}

// Sentence says what the certificate promises.
func (c certificateWords) Sentence() string { return paragraphs(c.M.Sentence(c.C), c.Context) }

// Which says which rows are counted.
func (c certificateWords) Which() string {
	return spelling.Either(c.M.Terms.Backtest, "last", "certified") // a backtest has no bound
}

// confusion returns the numbers of certified rows by true class (a line each) and predicted class.
func confusion(l *pacbayes.Labels) string {
	const most, width = 12, 14
	if len(l.Classes) > most {
		return "\n"
	}
	var b strings.Builder
	b.WriteString("\nCertified rows: true class, and predicted class in columns\n")
	name := func(s string) string { return spelling.Cut(cautious.Name(s), width) }
	line := func(head string, cell func(j int) string) {
		fmt.Fprintf(&b, "  %-*s", width, head)
		for j := range l.Classes {
			fmt.Fprintf(&b, " %*s", max(6, utf8.RuneCountInString(name(l.Classes[j]))), cell(j))
		}
		b.WriteString("\n")
	}
	line("", func(j int) string { return name(l.Classes[j]) })
	for i, counts := range l.Confusion {
		line(name(l.Classes[i]), func(j int) string { return fmt.Sprint(counts[j]) })
	}
	return b.String()
}
