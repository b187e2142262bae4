package files

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/lists"
)

// What the first lines of a text tell: which mark separates its cells, and which lines are remarks.

// blockSize is the size of the first part of a file, by which krigo tells what the file is.
// A header line is rarely longer.
const blockSize = 1 << 16

// separator returns the comma, semicolon or tab outside quotes in the first line that isn't blank,
// or 0. If commas are decimal commas, semicolons and tabs come first.
func separator(head []byte, decimalComma bool) byte {
	inQuotes := false
	found := byte(0)
	for _, c := range bytes.TrimLeft(head, "\r\n") {
		switch {
		case c == '"':
			inQuotes = !inQuotes
		case inQuotes:
		case c == ',' && !decimalComma:
			return ','
		case c == ';', c == '\t' && found != ';':
			found = c
		case c == '\n':
			return found
		}
	}
	return found
}

// further returns the separator of a text by more than its first line, in which found was found.
func further(head []byte, as dataset.Reading, found byte, source string) byte {
	switch found {
	case ',':
		return cmp.Or(rather(head, source), found)
	case 0, '\t':
		return cmp.Or(between(head, as, found), found)
	}
	return found
}

// rather returns the tab or semicolon that separates the cells of a text with commas in its first
// line: the first two lines that aren't blank have equally many cells by it, and not by commas.
// In a file of tabs, which its name tells, the second line doesn't matter.
func rather(head []byte, source string) byte {
	cells := func(mark byte) (first, second int) {
		lines := newCommas(bytes.NewReader(whole(head)), mark, "", 0)
		record, _ := lines.Read()
		first = len(record)
		record, _ = lines.Read()
		return first, len(record)
	}
	ending := strings.Contains(strings.ToLower(source), ".tsv")
	first, second := cells(',')
	for _, mark := range []byte("\t;") {
		names, fields := cells(mark)
		if names > 1 && ((names == fields && first != second) || (mark == '\t' && ending)) {
			return mark
		}
	}
	return 0
}

// whole leaves out the last line of a text's first block, since the block may cut it.
func whole(head []byte) []byte {
	if len(head) == blockSize {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	return head
}

// between says whether bars or spaces separate the fields of a text whose first line has no comma
// or semicolon, or returns 0. The first two lines that aren't blank must have equally many fields,
// or the first line a field less, as R writes names of rows. Names contain spaces too, so with
// spaces one of the fields must be a number. If the first line has tabs, the second must have
// numbers between two tabs.
func between(head []byte, as dataset.Reading, found byte) byte {
	head = whole(head)
	number := func(field string) bool {
		_, err := as.Parse(field)
		return err == nil || as.IsMissing(field)
	}
	for _, mark := range []byte("\t| ") {
		lines := newCommas(bytes.NewReader(head), mark, "", 0)
		names, _ := lines.Read()
		n := len(names)
		fields, _ := lines.Read()
		numbers := len(lists.If(fields, number))
		switch same := n == len(fields) || (n+1 == len(fields) && found == 0); {
		case mark == '\t':
			if found == mark && !slices.ContainsFunc(fields, func(cell string) bool {
				parts := strings.Fields(cell)
				return len(parts) > 1 && len(lists.If(parts, number)) == len(parts)
			}) {
				return found
			}
		case n < 2 || !same:
		case mark == '|' && n == len(fields) && found == 0,
			mark == ' ' && as.Thousands != " " && len(as.Units) == 0 && numbers > 0:
			return mark
		}
	}
	return 0
}

// remarks returns the number of lines at the beginning of a text that begin with # and aren't of
// its table. The last such line is the header if it has as many cells as the line below it.
func remarks(head []byte, decimalComma bool) (lines int) {
	var last []byte
	for len(head) > 0 && head[0] == '#' {
		last, head, _ = bytes.Cut(head, []byte("\n"))
		lines++
	}
	first, _, whole := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	mark := separator(head, decimalComma)
	same := bytes.Count(last, []byte{mark}) == bytes.Count(first, []byte{mark})
	if mark == 0 {
		names := len(bytes.Fields(last))
		cells := len(bytes.Fields(first))
		same = names == cells || names == cells+1
	}
	if lines > 0 && (same || !whole) {
		lines--
	}
	return lines
}
