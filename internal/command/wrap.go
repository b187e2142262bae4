package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The least and the most columns of wrapped text.
const (
	leastColumns = 80
	mostColumns  = 100
)

// printed passes results on, and keeps the first error, since those who print don't check errors.
type printed struct {
	w      io.Writer
	failed error
}

// Write passes text on, and keeps the first error for the end of the command.
func (p *printed) Write(text []byte) (int, error) {
	n, err := p.w.Write(text)
	if err != nil && p.failed == nil {
		p.failed = fmt.Errorf("results can't be written to standard output: %w", err)
	}
	return n, err
}

// columns returns the width in columns of text that is written to w.
// This is the width of the terminal, or the number in COLUMNS, but at least 80 and at most 100.
// A file or a pipe gets 100, so that programs read the same everywhere.
func columns(w io.Writer) int {
	if p, ok := w.(*printed); ok {
		w = p.w
	}
	wide := mostColumns
	if f, ok := w.(*os.File); ok {
		if n := terminalColumns(f); n > 0 {
			wide = n
			if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
				wide = n
			}
		}
	}
	return min(max(wide, leastColumns), mostColumns)
}

// wrapping wraps lines at the columns that w has.
type wrapping struct {
	w    io.Writer
	wide int
	rest []byte // an unfinished line
}

// folded returns a writer that wraps lines for w. Text after the last end of a line isn't written.
func folded(w io.Writer) *wrapping { return &wrapping{w: w, wide: columns(w)} }

// Write implements io.Writer. It writes whole lines, and keeps an unfinished line until the line
// ends.
func (p *wrapping) Write(text []byte) (int, error) {
	p.rest = append(p.rest, text...)
	for {
		line, rest, ended := bytes.Cut(p.rest, []byte("\n"))
		if !ended {
			return len(text), nil
		}
		if _, err := io.WriteString(p.w, wrap(string(line), p.wide)+"\n"); err != nil {
			return 0, err
		}
		p.rest = rest
	}
}

// label matches what may stand before a line's text:
// the dash of a list, or a label such as "Notice    ".
var label = regexp.MustCompile(`^ *(- |Intervals |\S+(?: \S+)?  +)?`)

// wrap wraps a line of results. A command stays whole, so that it runs when pasted.
func wrap(line string, wide int) string {
	if strings.HasPrefix(line, "krigo ") || strings.Contains(line, "  krigo ") {
		return line
	}
	return prose(line, wide)
}

// prose breaks a line between words, so that it has at most wide columns.
// Further lines are indented as far as the text of the first. A row of a table stays whole.
func prose(line string, wide int) string {
	from := label.FindString(line)
	text := line[len(from):]
	if utf8.RuneCountInString(line) <= wide || strings.Contains(text, "  ") {
		return line
	}
	in := 0
	if from != "" && strings.TrimSpace(from) == "" {
		in = 2
	}
	return behind(from, text, wide, in)
}

// behind returns the label followed by text, wrapped to wide columns.
// Further lines are indented more than the text, by the number of columns in.
func behind(label, text string, wide, in int) string {
	at := utf8.RuneCountInString(label)
	next := "\n" + strings.Repeat(" ", at+in)
	var b strings.Builder
	b.WriteString(label)
	for words := strings.Split(text, " "); len(words) > 0; {
		word := words[0]
		for words = words[1:]; len(words) > 0 &&
			strings.HasPrefix(words[0], "%"); words = words[1:] {
			word += " " + words[0] // a number stays with its %
		}
		n := utf8.RuneCountInString(word)
		switch {
		case b.Len() == len(label):
		case at+1+n > wide:
			b.WriteString(next)
			at = utf8.RuneCountInString(next) - 1
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// reflowed wraps prose whose lines are wrapped already.
// A line continues the line above, unless either is empty, the line has a label, or it is indented
// less.
func reflowed(text string, wide int) string {
	var lines []string
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	open := false
	for _, line := range strings.Split(text, "\n") {
		last := len(lines) - 1
		if open && line != "" && (indent(line) > indent(lines[last]) ||
			(indent(line) == 0 && indent(lines[last]) == 0)) {
			lines[last] += " " + strings.TrimSpace(line)
			continue
		}
		lines = append(lines, line)
		open = line != ""
	}
	for i, line := range lines {
		lines[i] = prose(line, wide)
	}
	return strings.Join(lines, "\n")
}
