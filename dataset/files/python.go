package files

import (
	"fmt"
	"strconv"
	"strings"
)

// python reads the literals of NPY headers: strings, whole numbers, True and False, tuples and
// lists, and dictionaries with strings as keys.
type python struct {
	text   string
	failed bool
}

// maxNesting limits lists within lists. A header has three levels.
const maxNesting = 10

// fail notes that the text isn't such a literal, and drops the rest, so that nothing more is read.
func (p *python) fail() any {
	p.failed = true
	p.text = ""
	return nil
}

// space skips white space.
func (p *python) space() { p.text = strings.TrimLeft(p.text, " \t\r\n") }

// next takes the character c if it comes next.
func (p *python) next(c byte) bool {
	p.space()
	if p.text == "" || p.text[0] != c {
		return false
	}
	p.text = p.text[1:]
	return true
}

// value reads the next literal. It returns a string, an int, a bool, a []any or a map[string]any.
// depth counts the lists and dictionaries around it.
func (p *python) value(depth int) any {
	if depth > maxNesting {
		return p.fail()
	}
	switch {
	case p.next('('):
		return p.list(')', depth)
	case p.next('['):
		return p.list(']', depth)
	case p.next('{'):
		return p.dictionary(depth)
	case p.next('\''):
		return p.quoted('\'')
	case p.next('"'):
		return p.quoted('"')
	}
	for word, value := range map[string]any{"True": true, "False": false} {
		if rest, ok := strings.CutPrefix(p.text, word); ok {
			p.text = rest
			return value
		}
	}
	digits := len(p.text) - len(strings.TrimLeft(p.text, "0123456789"))
	v, err := strconv.Atoi(p.text[:digits])
	if err != nil {
		return p.fail()
	}
	p.text = strings.TrimPrefix(p.text[digits:], "L") // Python 2 wrote long integers with an L
	return v
}

// list reads the rest of a list or tuple, up to its closing mark. A comma may follow the last
// element, as Python writes tuples of one element.
func (p *python) list(end byte, depth int) any {
	list := []any{}
	for !p.next(end) {
		list = append(list, p.value(depth+1))
		if !p.next(',') && (p.text == "" || p.text[0] != end) {
			return p.fail()
		}
	}
	return list
}

// dictionary reads the rest of a dictionary, whose keys must be strings.
func (p *python) dictionary(depth int) any {
	dict := map[string]any{}
	for !p.next('}') {
		key, ok := p.value(depth + 1).(string)
		if !ok || !p.next(':') {
			return p.fail()
		}
		dict[key] = p.value(depth + 1)
		if !p.next(',') && (p.text == "" || p.text[0] != '}') {
			return p.fail()
		}
	}
	return dict
}

// quoted reads a string up to its quote. It knows Go's escapes, and both quotes may be escaped.
func (p *python) quoted(quote byte) any {
	var b strings.Builder
	for p.text != "" {
		if rest, ok := strings.CutPrefix(p.text, string(quote)); ok {
			p.text = rest
			return b.String()
		}
		if len(p.text) > 1 && p.text[0] == '\\' && (p.text[1] == '\'' || p.text[1] == '"') {
			b.WriteByte(p.text[1])
			p.text = p.text[2:]
			continue
		}
		c, multibyte, rest, err := strconv.UnquoteChar(p.text, 0)
		if err != nil {
			return p.fail()
		}
		if !multibyte { // \xNN is a character in Python and a byte in Go
			c &= 0xff
		}
		b.WriteRune(c)
		p.text = rest
	}
	return p.fail()
}

// pythonString quotes text as Python does.
func pythonString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, c := range s {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\x%02x", c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
