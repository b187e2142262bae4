package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// isJSON says whether text begins like an object with a key, or like an array of objects. CSV has
// no quote at that place.
func isJSON(head []byte) bool {
	rest, found := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	return (found && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"`))) || opening(head) != nil
}

// array matches the beginning of a text that is an array of objects, or an object whose first key,
// or whose key data or the like, holds one.
// noNumber matches texts, and the value NaN, which Python writes though JSON doesn't have it.
var (
	array = regexp.MustCompile(`^\s*(?:\{\s*"[^"]*"\s*:|` +
		`\{(?s:.*?)"(?:data|items|records|results|rows)"\s*:)?\s*\[\s*\{`)
	noNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|NaN`)
)

// opening returns the part of a JSON text before the objects of its array. It is nil if the text
// has no such array, or an object in its first line and another object below.
func opening(head []byte) []byte {
	at := array.FindIndex(head)
	line, below, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	if at == nil || (json.Valid(line) && len(bytes.TrimSpace(below)) > 0) {
		return nil
	}
	return head[:at[1]-1]
}

// objects are the rows of JSON: an object per line, or the objects of an array.
// Read first returns the names of the columns:
// the keys of the first object, and the keys of further objects at the head of the text.
type objects struct {
	in            *bufio.Reader
	head          []byte
	source, point string // point is the decimal mark of the reading
	within        bool   // the objects stand in an array
	// refuse says that the cells of a column can't be read
	refuse func(column int, err error)

	names  []string
	line   int // line on which the object begins
	end    int // line on which it ends
	offset int64
	text   []byte // the object; after the names, the first row's object
	ahead  bool
}

// newObjects returns the objects of a text that begins with head.
func newObjects(o objects, head []byte) *objects {
	if before := opening(head); before != nil {
		o.within = true
		o.offset = int64(len(before))
		o.end += 1 + bytes.Count(before, []byte("\n"))
		head = head[len(before):]
		o.in.Discard(len(before))
	}
	o.head = bytes.Clone(head)
	return &o
}

func (o *objects) Line() int          { return o.line }
func (o *objects) InputOffset() int64 { return o.offset }

// next reads the next object's text, or nothing at the end of all objects.
func (o *objects) next() (text []byte, err error) {
	if !o.within {
		text, err = o.in.ReadBytes('\n')
		o.end++
		o.line = o.end
		o.offset += int64(len(text))
		return text, err
	}
	depth := 0
	var quoted, escaped bool
	for {
		c, err := o.in.ReadByte()
		if err == io.EOF {
			err = &dataset.Error{File: o.source, Line: o.end, Err: errors.New("the array of " +
				"objects doesn't end: fetch the file again, or write ] at its end")}
		}
		if err != nil {
			return nil, err
		}
		if o.offset++; c == '\n' {
			o.end++
		}
		switch {
		case quoted:
			quoted = escaped || c != '"'
			escaped = !escaped && c == '\\'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth < 0 { // the array ends
			return nil, io.EOF
		}
		if len(text) > 0 || (c != ',' && !unicode.IsSpace(rune(c))) {
			if len(text) == 0 {
				o.line = o.end
			}
			text = append(text, c)
		}
		if depth == 0 && len(text) > 0 && !quoted {
			return text, nil
		}
	}
}

// Read returns the names of the columns at the first call, and then the values of one object per
// call, in the order of the names. A key that an object lacks, and null, are empty cells.
func (o *objects) Read() ([]string, error) {
	for !o.ahead {
		text, err := o.next()
		if len(text) == 0 || (err != nil && err != io.EOF) {
			return nil, err
		}
		o.text, o.ahead = text, len(bytes.TrimSpace(text)) > 0
	}
	if o.names == nil {
		at := map[string]bool{}
		ahead := &objects{in: bufio.NewReader(bytes.NewReader(o.head)), within: o.within}
		for text := o.text; len(text) > 0; text, _ = ahead.next() {
			keys, _, _ := object(text) // an error is reported when the object is read
			for _, key := range keys {
				if !at[key] {
					at[key] = true
					o.names = append(o.names, key)
				}
			}
		}
		if len(o.names) == 0 {
			return nil, &dataset.Error{File: o.source, Line: o.line, Err: errNoObject}
		}
		return o.names, nil
	}
	o.ahead = false
	keys, values, err := object(o.text)
	record := make([]string, len(o.names))
	nested := 0
	for j, name := range o.names {
		switch v := values[name].(type) {
		case json.Number:
			record[j] = strings.Replace(v.String(), ".", o.point, 1)
		case string:
			record[j] = v
		case bool:
			record[j] = map[bool]string{false: "0", true: "1"}[v]
		case map[string]any, []any: // a table's cell is one value
			nested++
			o.refuse(j, &dataset.Error{File: o.source, Line: o.line, Err: fmt.Errorf("%q holds a "+
				"list or an object: give its parts keys of their own", spelling.Clip(name))})
		}
		delete(values, name)
	}
	if nested == len(o.names) && nested > 1 && err == nil {
		err = errors.New("each key holds a list or an object: write an array of objects with a " +
			"value for each key, as pandas does with orient=\"records\"")
	}
	for _, key := range keys {
		if _, left := values[key]; left && err == nil {
			err = fmt.Errorf("the key %q is new: give it to the first object, with null as "+
				"its value", spelling.Clip(key))
		}
	}
	if err != nil {
		return nil, &dataset.Error{File: o.source, Line: o.line, Err: err}
	}
	return record, nil
}

var errNoObject = errors.New("no JSON object with keys: write one in each line, and all of it")

// object returns the keys of an object in their order, and their values.
func object(line []byte) (keys []string, values map[string]any, err error) {
	// The decoder reads token by token, because a map would lose the keys' order and their
	// repetitions.
	if !json.Valid(line) {
		line = noNumber.ReplaceAllFunc(line, func(part []byte) []byte {
			if part[0] == '"' {
				return part
			}
			return []byte("null")
		})
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	values = map[string]any{}
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, nil, errNoObject
	}
	for d.More() {
		token, err := d.Token()
		key, _ := token.(string)
		var value any
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return keys, nil, errNoObject
		}
		if _, twice := values[key]; twice {
			return keys, nil, fmt.Errorf("%q stands twice: keep one", spelling.Clip(key))
		}
		keys = append(keys, key)
		values[key] = value
	}
	// The object must end, and nothing may follow it in its line.
	_, unfinished := d.Token()
	if _, err := d.Token(); unfinished != nil || err != io.EOF {
		return keys, nil, errNoObject
	}
	return keys, values, nil
}
