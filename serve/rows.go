package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/krigo-gp/krigo/dataset"
)

// badRequest is an error of the request, with its status.
type badRequest struct {
	status int
	err    error
}

func (e *badRequest) Error() string { return e.err.Error() }

func bad(status int, format string, args ...any) error {
	return &badRequest{status, fmt.Errorf(format, args...)}
}

// cell is one value of a row: a number.
type cell float64

// UnmarshalJSON says more than encoding/json would.
func (c *cell) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case '"':
		return fmt.Errorf("%s is text: write a number", clip(text))
	case 'n':
		return errors.New("the value is missing: write a number")
	case 't', 'f', '[', '{':
		return fmt.Errorf("%s isn't a number", clip(text))
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("%s is out of the range of a 64-bit number", clip(text))
	}
	*c = cell(v)
	return nil
}

func clip(text []byte) string {
	if len(text) > 40 {
		return string(text[:40]) + "…"
	}
	return string(text)
}

// request is the body of a prediction.
type request struct {
	Model string
	Table *dataset.Table
}

// parseJSON reads {"model": NAME, "rows": [ROW, …]}, where a ROW is an object by the inputs'
// names, or an array in their order. It stops at the first row too many.
func parseJSON(body []byte, inputs func(model string) ([]string, error), maxRows int) (*request, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	syntax := func(err error) error {
		var known *badRequest
		if errors.As(err, &known) {
			return err
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return bad(400, "the body isn't the JSON that was expected, %s: %w", `{"rows": [{"NAME": NUMBER, …}, …]}`, err)
	}
	expect := func(want json.Delim) error {
		token, err := d.Token()
		if err == nil && token != want {
			err = fmt.Errorf("%v where %v should be", token, want)
		}
		return err
	}
	if err := expect('{'); err != nil {
		return nil, syntax(err)
	}
	var r request
	var rows []json.RawMessage
	seen := map[any]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, syntax(err)
		}
		if seen[key] {
			return nil, bad(400, "%q stands twice in the body", key)
		}
		seen[key] = true
		switch key {
		case "model":
			if err := d.Decode(&r.Model); err != nil {
				return nil, syntax(err)
			}
		case "rows":
			if err := expect('['); err != nil {
				return nil, syntax(err)
			}
			for d.More() {
				if len(rows) == maxRows {
					return nil, tooManyRows(maxRows)
				}
				var row json.RawMessage
				if err := d.Decode(&row); err != nil {
					return nil, syntax(err)
				}
				rows = append(rows, row)
			}
			if err := expect(']'); err != nil {
				return nil, syntax(err)
			}
		default:
			return nil, bad(400, "%q isn't known: a body has \"rows\", and may have \"model\"", key)
		}
	}
	if err := expect('}'); err != nil {
		return nil, syntax(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, bad(400, "something follows the JSON document")
	}
	if len(rows) == 0 {
		return nil, bad(400, "there are no rows to predict")
	}
	names, err := inputs(r.Model)
	if err != nil {
		return nil, err
	}
	r.Table = &dataset.Table{Source: "the request", Names: names, Rows: len(rows), Values: make([]float64, 0, len(rows)*len(names))}
	for i, raw := range rows {
		if r.Table.Values, err = appendRow(r.Table.Values, raw, names); err != nil {
			return nil, bad(400, "row %d: %w", i+1, err)
		}
	}
	return &r, nil
}

func tooManyRows(limit int) error {
	return bad(413, "more than %d rows: send them in several requests", limit)
}

// appendRow appends the values of a row in the order of names.
func appendRow(values []float64, raw json.RawMessage, names []string) ([]float64, error) {
	switch raw[0] {
	case '[':
		var row []cell
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, err
		}
		if len(row) != len(names) {
			return nil, fmt.Errorf("%d values for %d inputs", len(row), len(names))
		}
		for _, c := range row {
			values = append(values, float64(c))
		}
	case '{':
		var row map[string]json.RawMessage
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, err
		}
		for _, name := range names {
			text, ok := row[name]
			if !ok {
				return nil, fmt.Errorf("input %q is missing", name)
			}
			var c cell
			if err := c.UnmarshalJSON(text); err != nil {
				return nil, fmt.Errorf("input %q: %w", name, err)
			}
			values = append(values, float64(c))
		}
	default:
		return nil, fmt.Errorf("%s is neither an object nor an array", clip(raw))
	}
	return values, nil
}

// parseCSV reads CSV text with a header.
func parseCSV(body []byte, maxRows int) (*dataset.Table, error) {
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return nil, bad(415, "compressed bodies aren't taken")
	}
	if bytes.Count(body, []byte{'\n'}) > 2*maxRows+2 { // before memory is spent on them
		return nil, tooManyRows(maxRows)
	}
	t, err := dataset.Read(bytes.NewReader(body), "the request")
	if err != nil {
		return nil, bad(400, "%w", err)
	}
	if t.Rows > maxRows {
		return nil, tooManyRows(maxRows)
	}
	return t, nil
}
