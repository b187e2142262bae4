package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/krigo-gp/krigo"
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

// Input is a column that a model predicts from, with the mean and the standard deviation by
// which it is scaled, or of a categorical one with its categories, which are not.
type Input struct {
	Name       string   `json:"name"`
	Mean       float64  `json:"mean"`
	Scale      float64  `json:"scale"`
	Categories []string `json:"categories,omitempty"` // all others count as the last
	Missing    bool     `json:"missing,omitempty"`    // whether a value may be
	Date       string   `json:"date,omitempty"`       // the form of a date, which is text then, or days since 1970-01-01
}

// inputsOf returns those of a model, in the order of arrays that are rows. Periodic parts of dates are made of these.
func inputsOf(m *krigo.Model) []Input {
	inputs := scaledInputs(m)
	for _, d := range m.Reading.Dates {
		inputs = slices.DeleteFunc(inputs, func(i Input) bool { return slices.Contains(d.Derived(), i.Name) })
		if at := slices.IndexFunc(inputs, func(i Input) bool { return i.Name == d.Column }); at >= 0 {
			inputs[at].Date = d.Form
		}
	}
	return inputs
}

// scaledInputs are all that a row of a table becomes, categories as one.
func scaledInputs(m *krigo.Model) []Input {
	var inputs []Input
	if m.Encoding == nil {
		for j, name := range m.Inputs {
			inputs = append(inputs, Input{Name: name, Mean: m.Scaling.InputMean[j], Scale: m.Scaling.InputScale[j]})
		}
		return inputs
	}
	at := 0
	for _, c := range m.Encoding.Columns {
		of := Input{Name: c.Name, Mean: m.Scaling.InputMean[at], Scale: m.Scaling.InputScale[at], Categories: c.Names(), Missing: m.Encoding.Missing == dataset.FillMean}
		inputs = append(inputs, of)
		at += max(1, len(of.Categories))
	}
	return inputs
}

// columnsOf returns the inputs of a model and then its target.
func columnsOf(m *krigo.Model) []Input { return append(inputsOf(m), Input{Name: m.Target}) }

// cell reads a value of a row as a CSV file would have it: a number, of categorical inputs
// text too, and null where a value may be missing.
func (i Input) cell(value json.RawMessage) (string, error) {
	switch value[0] {
	case '"':
		if i.Categories == nil && i.Date == "" {
			return "", fmt.Errorf("%s is text: write a number", clip(value))
		}
		var text string
		err := json.Unmarshal(value, &text)
		return text, err
	case 'n':
		if !i.Missing {
			return "", errors.New("the value is missing: write " + i.kind())
		}
		return "", nil
	case 't', 'f', '[', '{':
		return "", fmt.Errorf("%s isn't %s", clip(value), i.kind())
	}
	if _, err := strconv.ParseFloat(string(value), 64); err != nil {
		return "", fmt.Errorf("%s is out of the range of a 64-bit number", clip(value))
	}
	return string(value), nil
}

func (i Input) kind() string {
	switch {
	case i.Categories != nil:
		return "a category"
	case i.Date != "":
		return "a date as text, or days since 1970-01-01"
	}
	return "a number"
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
func parseJSON(body []byte, inputs func(model string) ([]Input, error), maxRows int) (*request, error) {
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
	of, err := inputs(r.Model)
	if err != nil {
		return nil, err
	}
	r.Table = &dataset.Table{Source: "the request", Values: make([]float64, 0, len(rows)*len(of))}
	for _, input := range of {
		r.Table.Names = append(r.Table.Names, input.Name)
	}
	for i, raw := range rows {
		row, err := cells(raw, of)
		if err != nil {
			return nil, bad(400, "row %d: %w", i+1, err)
		}
		r.Table.Append(row)
	}
	return &r, nil
}

func tooManyRows(limit int) error {
	return bad(413, "more than %d rows: send them in several requests", limit)
}

// cells returns the cells of a row in the order of the inputs.
func cells(raw json.RawMessage, inputs []Input) ([]string, error) {
	out := make([]string, len(inputs))
	var err error
	switch raw[0] {
	case '[':
		var row []json.RawMessage
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, err
		}
		if len(row) != len(inputs) {
			return nil, fmt.Errorf("%d values for %d inputs", len(row), len(inputs))
		}
		for j, value := range row {
			if out[j], err = inputs[j].cell(value); err != nil {
				return nil, err
			}
		}
	case '{':
		row, err := object(raw)
		if err != nil {
			return nil, err
		}
		for j, input := range inputs {
			value, ok := row[input.Name]
			if !ok {
				return nil, fmt.Errorf("input %q is missing", input.Name)
			}
			if out[j], err = input.cell(value); err != nil {
				return nil, fmt.Errorf("input %q: %w", input.Name, err)
			}
		}
	default:
		return nil, fmt.Errorf("%s is neither an object nor an array", clip(raw))
	}
	return out, nil
}

// object returns the values of a JSON object by its keys, of which none may stand twice: json.Unmarshal takes the last.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	if len(values) < members(raw) {
		return nil, fmt.Errorf("%q stands twice: leave one", clip([]byte(repeated(raw))))
	}
	return values, nil
}

// members counts the members of a valid JSON object: to read it key by key costs as much as all else of a request.
func members(object []byte) (n int) {
	depth, text := 0, false
	for i := 0; i < len(object); i++ {
		switch c := object[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		case c == ':' && depth == 1:
			n++
		}
	}
	return n
}

// repeated returns the first key of a valid JSON object that stands in it twice.
func repeated(object []byte) string {
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token() // the brace
	for seen := map[string]bool{}; d.More(); {
		token, _ := d.Token()
		key := token.(string)
		if seen[key] {
			return key
		}
		seen[key] = true
		var value json.RawMessage
		d.Decode(&value)
	}
	return ""
}

// parseCSV reads CSV text with a header.
func parseCSV(body []byte, of dataset.Reading, maxRows int) (*dataset.Table, error) {
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return nil, bad(415, "compressed bodies aren't taken")
	}
	if bytes.Count(body, []byte{'\n'}) > 2*maxRows+2 { // before memory is spent on them
		return nil, tooManyRows(maxRows)
	}
	t, err := of.Every().Read(bytes.NewReader(body), "the request")
	if err != nil {
		return nil, bad(400, "%w", err)
	}
	if t.Rows > maxRows {
		return nil, tooManyRows(maxRows)
	}
	return t, nil
}
