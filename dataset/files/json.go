package files

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
)

func init() {
	Register(Format{Name: "JSON lines", Endings: []string{".jsonl", ".ndjson"}, Text: true, Read: csvFormat.Read,
		Write: onlyRead("JSON lines")})
}

// isJSON says whether text begins as an object with a key does, and so isn't CSV, in which no quote stands there.
func isJSON(head []byte) bool {
	rest, found := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
	return found && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"`))
}

// objects are the rows of JSON lines: an object in each line, whose keys name the columns.
type objects struct {
	in     *bufio.Reader
	source string
	point  string // with which the reading writes decimals

	names  []string
	at     map[string]int // the column of a key
	set    []int          // the line that set a column last
	told   bool           // the names were returned, as the row of a header
	line   int
	offset int64
	text   []byte // of the line; of the first one before it is asked for
	ahead  bool
}

// newObjects begins to read below so many lines. The columns are the keys of the first object and those in the head.
func newObjects(in *bufio.Reader, head []byte, t *dataset.Table, above int) (*objects, error) {
	o := &objects{in: in, source: t.Source, point: cmp.Or(t.Reading().Decimal, "."), line: above, at: map[string]int{},
		ahead: true}
	lines := slices.Collect(bytes.Lines(slices.Clone(head)))
	if err := o.next(); err != nil {
		return nil, err
	}
	for _, line := range append([][]byte{o.text}, lines...) {
		object(line, func(key string, _ any) error { // what is wrong with it is said once it is read
			if _, known := o.at[key]; !known {
				o.at[key] = len(o.names)
				o.names = append(o.names, key)
			}
			return nil
		})
	}
	o.set = make([]int, len(o.names))
	return o, nil
}

// next reads the next line that isn't blank.
func (o *objects) next() error {
	for blank := true; blank; blank = len(bytes.TrimSpace(o.text)) == 0 {
		o.text = o.text[:0]
		for err := bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
			var part []byte
			part, err = o.in.ReadSlice('\n')
			o.text = append(o.text, part...)
			if err != nil && err != bufio.ErrBufferFull && (err != io.EOF || len(o.text) == 0) {
				return err
			}
		}
		o.line++
		o.offset += int64(len(o.text))
	}
	return nil
}

func (o *objects) Line() int          { return o.line }
func (o *objects) InputOffset() int64 { return o.offset }

func (o *objects) Read() ([]string, error) {
	if !o.told {
		o.told = true
		return o.names, nil
	}
	if !o.ahead {
		if err := o.next(); err != nil {
			return nil, err
		}
	}
	o.ahead = false
	record := make([]string, len(o.names))
	err := object(o.text, func(key string, value any) error {
		j, known := o.at[key]
		switch {
		case !known:
			return fmt.Errorf("%q is a key of none of the first objects: add it to the first line, as null if it has none",
				spelling.Clip(key))
		case o.set[j] == o.line:
			return fmt.Errorf("%q twice: keep one", spelling.Clip(key))
		}
		o.set[j] = o.line
		switch v := value.(type) {
		case json.Number:
			record[j] = strings.Replace(v.String(), ".", o.point, 1)
		case string:
			record[j] = v
		case bool:
			record[j] = map[bool]string{false: "0", true: "1"}[v]
		case json.Delim:
			return fmt.Errorf("%q holds a list or an object: give each number of it a key of its own", spelling.Clip(key))
		}
		return nil
	})
	if err != nil {
		return nil, &dataset.Error{File: o.source, Line: o.line, Err: err}
	}
	return record, nil
}

// object passes on the keys and values of an object, of a list its beginning.
func object(line []byte, set func(key string, value any) error) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	none := errors.New("no JSON object: write one in each line, whole")
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return none
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return none
		}
		value, err := d.Token()
		if err != nil {
			return none
		}
		if err := set(key.(string), value); err != nil {
			return err
		}
		if _, nested := value.(json.Delim); nested {
			return nil // while names are looked for
		}
	}
	if _, err := d.Token(); err != nil {
		return none
	}
	if _, err := d.Token(); err != io.EOF {
		return none
	}
	return nil
}
