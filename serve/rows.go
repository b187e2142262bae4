package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo"
	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/lists"
)

// badRequest is an error in a request, with the status of its answer.
type badRequest struct {
	status int
	err    error
}

func (e *badRequest) Error() string { return e.err.Error() }

// bad returns an error that the client can mend, with its HTTP status.
func bad(status int, format string, args ...any) error {
	return &badRequest{status, fmt.Errorf(format, args...)}
}

// Input is a column that a model predicts from.
// A column of numbers has the mean and the standard deviation that scale it.
// A categorical column has its categories.
type Input struct {
	Name  string  `json:"name"`
	Mean  float64 `json:"mean"`
	Scale float64 `json:"scale"`
	// the last category stands for all other values
	Categories []string `json:"categories,omitempty"`
	Missing    bool     `json:"missing,omitempty"` // whether a value may be missing
	// form of a date as text, which may also be days since 1970; "": none
	Date string `json:"date,omitempty"`
	// the most frequent value of a column of few values; "": unknown
	Usual string `json:"usual,omitempty"`
	// range over the rows that the model was made from;
	// nil for a categorical column, and if it isn't known
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`

	// the place of the column's first number among the model's; -1: the column has no number there
	at int
}

// inputsOf returns a model's inputs, in the order of rows that are arrays, and the further columns
// that it takes.
// Periodic parts of dates aren't among them, because krigo computes them from the dates.
func inputsOf(m *krigo.Model) []Input {
	inputs := scaledInputs(m)
	for _, c := range m.Predicting() { // the page begins with what is usual
		if !slices.ContainsFunc(inputs, func(i Input) bool { return i.Name == c.Name }) {
			inputs = append(inputs, Input{Name: c.Name, Mean: c.Usual, Scale: 1, at: -1})
		}
	}
	for _, d := range m.Reading.Dates {
		inputs = slices.DeleteFunc(inputs, func(i Input) bool {
			return slices.Contains(d.Derived(), i.Name)
		})
		if at := slices.IndexFunc(inputs, func(i Input) bool {
			return i.Name == d.Column
		}); at >= 0 {
			inputs[at].Date = d.Form
		}
	}
	return inputs
}

// namesOf returns the inputs' names.
func namesOf(inputs []Input) []string {
	return lists.Of(inputs, func(i Input) string { return i.Name })
}

// scaledInputs returns all inputs, including the periodic parts of dates, with the categories of a
// column as one input.
func scaledInputs(m *krigo.Model) (inputs []Input) {
	// at is the column's first input. Each category is an input of its own.
	at := 0
	for _, c := range m.Encoding.Filling(m.Inputs, m.Scaling.InputMean, false).Columns {
		of := Input{Name: c.Name, Mean: m.Scaling.InputMean[at], Scale: m.Scaling.InputScale[at],
			Categories: c.Names(), Missing: m.Filling().Fills(), at: at}
		if of.Categories == nil && m.Range.Min != nil {
			of.Low = &m.Range.Min[at]
			of.High = &m.Range.Max[at]
		}
		inputs = append(inputs, of)
		at += c.Width()
	}
	return inputs
}

// mostCodes is the largest number of values of a column that counts as codes, and mostHeld is the
// number of rows that are looked at.
const (
	mostCodes = 30
	mostHeld  = 10_000
)

// settle sets Usual to the most frequent value among rows that the model holds, for the page to
// begin with. A column of numbers has a usual value only if all its values are whole numbers, and
// few different ones. Models with inducing inputs hold no rows.
func (i *Input) settle(m *krigo.Model) {
	q := m.Trained()
	if i.at < 0 || q.Inducing() > 0 || q.Support.Rows == 0 {
		return
	}
	counts := map[float64]int{}
	most := math.Inf(1) // the most frequent value, and the least of such values
	for row := 0; row < q.Support.Rows; row += 1 + q.Support.Rows/mostHeld {
		own := q.Support.Row(row)[i.at:]
		v := own[0]*i.Scale + i.Mean
		if n := len(i.Categories); n > 0 { // a category's input is 1, and the others are 0
			v = float64(floats.MaxIdx(own[:n]))
		}
		whole := math.Round(v)
		if counts[whole]++; (len(counts) > mostCodes && i.Categories == nil) ||
			math.Abs(v-whole) > 1e-6*max(1, math.Abs(v)) {
			return
		}
		if n := counts[whole]; n > counts[most] || (n == counts[most] && whole < most) {
			most = whole
		}
	}
	if i.Usual = strconv.FormatFloat(most+0, 'f', -1, 64); i.Categories != nil {
		i.Usual = i.Categories[int(most)]
	}
}

// cell returns a JSON value as the cell of a CSV file. A value is a number.
// A category or a date may be text, and a value that may be missing may be null, or one of few texts
// (see dataset.Data.Gaps).
func (i Input) cell(value json.RawMessage, few *int) (string, error) {
	switch value[0] {
	case '"':
		if i.Categories == nil && i.Date == "" {
			if *few--; !i.Missing || *few < 0 || len(value) > mostText {
				return "", fmt.Errorf("%s is text: write a number", clip(value))
			}
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

// kind says in words what a cell of the input holds.
func (i Input) kind() string {
	switch {
	case i.Categories != nil:
		return "a category"
	case i.Date != "":
		return "a date as text, or days since 1970-01-01"
	}
	return "a number"
}

// The memory that a table takes, in bytes. TestMeasures compares it with the memory that is used.
const (
	bytesOfRow    = 1024 // a row's prediction, and its part of the answer
	bytesOfCell   = 16   // a cell's number, in the table and in the batch
	bytesOfGrowth = 8    // the further memory of a cell while the table grows
	bytesOfText   = 112  // a text that no other cell of its column has
)

// kept returns the memory that a table takes until its request is answered.
func kept(t *dataset.Table) int64 {
	bytes := int64(t.Rows)*bytesOfRow + int64(len(t.Values))*bytesOfCell
	for _, texts := range t.Text {
		bytes += int64(len(texts)) * bytesOfText
	}
	return bytes
}

// spare is the number of columns, or of keys of a row, that a request may have and the model
// doesn't need.
const spare = 1000

// measureCSV estimates the memory that parsing a CSV body takes if the request uses the given
// number of columns. It runs before the parsing.
func measureCSV(body []byte, columns int, of dataset.Reading,
	maxRows int) (bytesMore int64, err error) {
	columns += len(of.Dates)
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return 0, bad(415, "compressed bodies aren't taken")
	}
	lines := bytes.Count(body, []byte{'\n'}) + 1
	if lines > 2*maxRows+3 {
		return 0, tooManyRows(maxRows)
	}
	cells, texts, longest, err := fields(body, columns+spare)
	if of.Decimal != "" || of.Thousands != "" || len(of.Missing)+len(of.Units) > 0 {
		// fields can't tell these numbers from texts, and a near number is kept twice
		texts = 2 * cells
	}
	texts = min(texts, 2*lines*columns) // texts of other columns aren't kept
	return (bytesOfCell+bytesOfGrowth)*int64(cells) + bytesOfText*int64(texts) +
		bytesOfRow*int64(min(lines, maxRows)) + 4*int64(longest), err
}

// fields returns the number of cells of a CSV text, the number of cells that may be texts, and the
// bytes of the longest record, which the reader copies several times.
// It refuses a record of more than most cells.
// Every mark that can separate cells outside quotes counts, and only digits with one point and a
// sign count as a number. So the true numbers are never larger.
func fields(text []byte, most int) (cells, texts, longest int, err error) {
	record := 1
	begin := 0
	quoted := false
	var marks [3]int // commas, semicolons and tabs of the record
	length := 0
	points := 0
	odd := false
	end := func() {
		if odd {
			texts++
		}
		length = 0
		points = 0
		odd = false
	}
	var work pace
	for i, c := range text {
		// a pause now and then, as in paced
		if i%pacedBytes == pacedBytes-1 {
			work.rest()
		}
		at := -1
		switch {
		case '0' <= c && c <= '9':
			length++
			continue
		case c == '.':
			length++
			points++
			odd = odd || points > 1
			continue
		case c == '-' && length == 0:
			length++
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			end()
			// The reader splits at one of the three marks, so the most frequent one bounds the
			// cells.
			cells += 1 + max(marks[0], marks[1], marks[2])
			marks = [3]int{}
			longest = max(longest, i-begin)
			begin = i
			record++
			continue
		case c == ',':
			at = 0
		case c == ';':
			at = 1
		case c == '\t':
			at = 2
		}
		if at < 0 {
			length++
			odd = odd || (c != ' ' && c != '\r')
			continue
		}
		end()
		if marks[at]++; marks[at] >= most {
			return 0, 0, 0, bad(400, "record %d has more than %d columns, many more than the "+
				"model needs: send only those that it needs", record, most)
		}
	}
	end()
	return cells + 1 + max(marks[0], marks[1], marks[2]), texts, max(longest, len(text)-begin), nil
}

// measureJSON estimates the memory that parsing a JSON body takes, without the texts in the table.
// While its buffer grows, the decoder may hold a key five times.
func measureJSON(body []byte, maxRows int) int64 {
	values := bytes.Count(body, []byte{','}) + 1
	return 5*int64(len(body)) + bytesOfCell*int64(values) + bytesOfRow*int64(min(values, maxRows))
}

// textsOf returns the largest memory that the texts of the given number of rows can take.
func textsOf(inputs []Input, rows int) (bytes int64) {
	for _, input := range inputs {
		if input.Categories != nil || input.Date != "" {
			bytes += bytesOfText * int64(rows)
		}
	}
	return bytes
}

// span is the length of a JSON value. Decoding into a span copies nothing.
type span int

// UnmarshalJSON keeps only the length of the value's text.
func (s *span) UnmarshalJSON(value []byte) error {
	*s = span(len(value))
	return nil
}

// parseJSON reads {"model": NAME, "rows": [ROW, …]}.
// A ROW is an object with the inputs' names as keys, or an array in the order of the inputs.
// It stops after maxRows rows. inputs returns the inputs of a model, and gets the number of rows in
// the body.
func parseJSON(body []byte, inputs func(model string, rows int) ([]Input, error),
	maxRows int) (*dataset.Table, error) {
	name, rows, err := envelope(body, maxRows)
	if err != nil {
		return nil, err
	}
	of, err := inputs(name, len(rows))
	if err != nil {
		return nil, err
	}
	t := &dataset.Table{Source: "the request", Names: namesOf(of),
		Values: make([]float64, 0, len(rows)*len(of))}
	var work pace
	few := fewTexts
	for i, raw := range rows {
		work.rest()
		row, err := cells(raw, of, &few)
		if err != nil {
			return nil, bad(400, "row %d: %w", i+1, err)
		}
		t.Append(row)
	}
	return t, nil
}

// envelope splits the JSON body of a request into the model's name and the JSON text of each row.
// It copies no row, and refuses more than maxRows rows, unknown keys and keys that come twice.
func envelope(body []byte, maxRows int) (name string, rows []json.RawMessage, err error) {
	d := json.NewDecoder(&paced{from: bytes.NewReader(body)})
	syntax := func(err error) error {
		var known *badRequest
		if errors.As(err, &known) {
			return err
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return bad(400, "the body isn't JSON of the form %s: %w",
			`{"rows": [{"NAME": NUMBER, …}, …]}`, err)
	}
	expect := func(want json.Delim) error {
		token, err := d.Token()
		if err == nil && token != want {
			err = fmt.Errorf("it has %v where %v should be", token, want)
		}
		return err
	}
	if err := expect('{'); err != nil {
		return "", nil, syntax(err)
	}
	seen := map[any]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return "", nil, syntax(err)
		}
		if seen[key] {
			return "", nil, bad(400, "the body has %q twice: remove one", key)
		}
		seen[key] = true
		switch key {
		case "model":
			if err := d.Decode(&name); err != nil {
				return "", nil, syntax(err)
			}
		case "rows":
			if err := expect('['); err != nil {
				return "", nil, syntax(err)
			}
			for d.More() {
				if len(rows) == maxRows {
					return "", nil, tooManyRows(maxRows)
				}
				var row span
				if err := d.Decode(&row); err != nil {
					return "", nil, syntax(err)
				}
				// The row's text ends here in the body, and has row bytes.
				end := d.InputOffset()
				rows = append(rows, json.RawMessage(body[end-int64(row):end]))
			}
			if err := expect(']'); err != nil {
				return "", nil, syntax(err)
			}
		default:
			return "", nil, bad(400, "the body has a key %q that isn't known: it has \"rows\", "+
				"and may have \"model\"", key)
		}
	}
	if err := expect('}'); err != nil {
		return "", nil, syntax(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return "", nil, bad(400, "more text follows the JSON document: send one document")
	}
	if len(rows) == 0 {
		return "", nil, bad(400, "there are no rows to predict")
	}
	return name, rows, nil
}

// tooManyRows returns the error 413 for a request of more than limit rows.
func tooManyRows(limit int) error {
	return bad(413, "more than %d rows: send them in several requests", limit)
}

// A request may have at most fewTexts texts of at most mostText bytes in place of numbers, since
// nothing measures their memory.
const (
	fewTexts = 1000
	mostText = 100
)

// cells returns the cells of a row in the order of the inputs.
func cells(raw json.RawMessage, inputs []Input, few *int) ([]string, error) {
	out := make([]string, len(inputs))
	var err error
	switch raw[0] {
	case '[':
		// refuse too many values before decoding them
		if n := count(raw, ',') + 1; n > len(inputs)+1 {
			return nil, fmt.Errorf("it has %d values, and should have %d", n, len(inputs))
		}
		var row []json.RawMessage
		if err := json.Unmarshal(raw, &row); err != nil {
			return nil, err
		}
		if len(row) != len(inputs) {
			return nil, fmt.Errorf("it has %d values, and should have %d", len(row), len(inputs))
		}
		for j, value := range row {
			if out[j], err = inputs[j].cell(value, few); err != nil {
				return nil, err
			}
		}
	case '{':
		row, err := object(raw, len(inputs)+spare)
		if err != nil {
			return nil, err
		}
		for j, input := range inputs {
			value, ok := row[input.Name]
			if !ok {
				return nil, fmt.Errorf("input %q is missing", input.Name)
			}
			if out[j], err = input.cell(value, few); err != nil {
				return nil, fmt.Errorf("input %q: %w", input.Name, err)
			}
		}
	default:
		return nil, fmt.Errorf("%s is neither an object nor an array", clip(raw))
	}
	return out, nil
}

// object returns the values of a JSON object by their keys.
// It refuses more than most keys, and a key that comes twice, since json.Unmarshal would take
// the last value.
func object(raw json.RawMessage, most int) (map[string]json.RawMessage, error) {
	keys := count(raw, ':')
	if keys > most {
		return nil, fmt.Errorf("it has more than %d values, many more than the model needs: send "+
			"only those that it needs", most)
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	if len(values) < keys {
		return nil, fmt.Errorf("it has %q twice: remove one", clip([]byte(repeated(raw))))
	}
	return values, nil
}

// count returns how often mark stands in a valid JSON value itself, not within inner values or
// texts: the colons of an object, or the commas of an array.
// Decoding the value for that would cost as much as the rest of the request.
func count(value []byte, mark byte) (n int) {
	depth := 0
	text := false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		case c == mark && depth == 1:
			n++
		}
	}
	return n
}

// repeated returns the first key that a valid JSON object has twice.
func repeated(object []byte) string {
	d := json.NewDecoder(bytes.NewReader(object))
	d.Token() // the opening brace
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

// parseCSV reads CSV text with a header. It keeps the given columns, and the columns that hold the
// model's dates.
func parseCSV(body []byte, columns []Input, of dataset.Reading,
	maxRows int) (*dataset.Table, error) {
	names := append(namesOf(columns), lists.Of(of.Dates, func(d dataset.Dates) string {
		return d.Column
	})...)
	t, err := files.CSV{From: &paced{from: bytes.NewReader(body)}, Source: "the request",
		As: of.Sent(), Columns: names, Bare: true}.Read()
	if err != nil {
		return nil, bad(400, "%w", err)
	}
	if t.Rows > maxRows {
		return nil, tooManyRows(maxRows)
	}
	return t, nil
}
