package command

import (
	"bytes"
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

// columns returns how many columns text that is written to w may have: as many as COLUMNS says, or else as the terminal
// has, but 80 to 100. A file or a pipe gets 100.
func columns(w io.Writer) int {
	if p, ok := w.(*printed); ok {
		w = p.w
	}
	wide, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if f, ok := w.(*os.File); ok && err != nil {
		wide = terminalColumns(f)
	}
	if wide <= 0 {
		wide = mostColumns
	}
	return min(max(wide, leastColumns), mostColumns)
}

// wrapping wraps lines at the columns that w has.
type wrapping struct {
	w    io.Writer
	wide int
	rest []byte // an unfinished line
}

func folded(w io.Writer) *wrapping { return &wrapping{w: w, wide: columns(w)} }

// Write implements io.Writer. It writes whole lines, and keeps an unfinished line until the line ends.
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

// label matches what may stand before a line's text: the dash of a list, or a label such as "Notice    ".
var label = regexp.MustCompile(`^ *(- |Intervals |\S+(?: \S+)?  +)?`)

// wrap breaks a line between words, so that it has at most wide columns. Further lines are indented as far as the text
// of the first. A command stays whole, so that it runs when pasted, and so does a row of a table.
func wrap(line string, wide int) string {
	from := label.FindString(line)
	text := line[len(from):]
	if utf8.RuneCountInString(line) <= wide || strings.Contains(text, "  ") || strings.Contains(line, "  krigo ") ||
		strings.HasPrefix(line, "krigo ") {
		return line
	}
	hang := utf8.RuneCountInString(from)
	if hang > 0 && strings.TrimSpace(from) == "" {
		hang += 2
	}
	var b strings.Builder
	b.WriteString(from)
	at := utf8.RuneCountInString(from)
	words := strings.Split(text, " ")
	for i := 0; i < len(words); i++ {
		word := words[i]
		for i+1 < len(words) && strings.HasPrefix(words[i+1], "%") { // a number stays with its %
			i++
			word += " " + words[i]
		}
		switch n := utf8.RuneCountInString(word); {
		case b.Len() == len(from):
			at += n
		case at+1+n > wide:
			b.WriteString("\n" + strings.Repeat(" ", hang))
			at = hang + n
		default:
			b.WriteString(" ")
			at += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}

// reflowed wraps prose whose lines are wrapped already. A line continues the line above, unless either is empty, the
// line has a label, or it is indented less.
func reflowed(text string, wide int) string {
	var lines []string
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	open := false
	for _, line := range strings.Split(text, "\n") {
		last := len(lines) - 1
		if open && line != "" && (indent(line) > indent(lines[last]) || indent(line) == 0 && indent(lines[last]) == 0) {
			lines[last] += " " + strings.TrimSpace(line)
			continue
		}
		lines, open = append(lines, line), line != ""
	}
	for i, line := range lines {
		lines[i] = wrap(line, wide)
	}
	return strings.Join(lines, "\n")
}
