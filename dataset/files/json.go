package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// isJSON says whether text begins like an object with a key. CSV has no quote at that place.
func isJSON(head []byte) bool {
	rest, found := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	return found && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"`))
}

// objects are the rows of JSON lines, with an object per line.
// Read first returns the names of the columns:
// the keys of the first object, and the keys of further objects at the head of the text.
type objects struct {
	in            *bufio.Reader
	head          []byte
	source, point string // point is the decimal mark of the reading

	names  []string
	line   int
	offset int64
	text   []byte // the line; after the names, the first row's line
	ahead  bool
}

func (o *objects) Line() int          { return o.line }
func (o *objects) InputOffset() int64 { return o.offset }

// Read returns the names of the columns at the first call, and then the values of one object per
// call, in the order of the names. A key that an object lacks, and null, are empty cells.
func (o *objects) Read() ([]string, error) {
	for !o.ahead {
		text, err := o.in.ReadBytes('\n')
		if len(text) == 0 || (err != nil && err != io.EOF) {
			return nil, err
		}
		o.line++
		o.offset += int64(len(text))
		o.text, o.ahead = text, len(bytes.TrimSpace(text)) > 0
	}
	if o.names == nil {
		at := map[string]bool{}
		for _, line := range append([][]byte{o.text}, bytes.Split(o.head, []byte("\n"))...) {
			keys, _, _ := object(line) // an error is reported when the line is read
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
	for j, name := range o.names {
		switch v := values[name].(type) {
		case json.Number:
			record[j] = strings.Replace(v.String(), ".", o.point, 1)
		case string:
			record[j] = v
		case bool:
			record[j] = map[bool]string{false: "0", true: "1"}[v]
		}
		delete(values, name)
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
			value, err = d.Token()
		}
		if err != nil {
			return keys, nil, errNoObject
		}
		// A table's cell is one value.
		if _, nested := value.(json.Delim); nested {
			return keys, nil, fmt.Errorf("%q holds a list or an object: give its parts keys of "+
				"their own", spelling.Clip(key))
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
