package dataset

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// How a reading is applied to a table: dates become days, and days are written as dates again.

// Apply applies r to a table that was made from its fields or from a file of numbers.
// Numbers that stand for missing values become NaN.
// Repeated rows are left out if r.Distinct is set.
// Dates become days, whether they are texts or numbers, and their periods become columns.
func (r Reading) Apply(t *Table) error {
	if err := t.Check(); err != nil {
		return err
	}
	t.reading = r
	if err := t.forget(r); err != nil {
		return err
	}
	if r.Distinct {
		if err := t.distinct(); err != nil {
			return err
		}
	}
	t.reading.Dates = slices.Clone(r.Dates)
	for i := range r.Dates {
		if err := t.date(&t.reading.Dates[i]); err != nil {
			return err
		}
	}
	return nil
}

// Further returns a table in memory with further texts that stand for missing values, and further
// columns of dates.
func (t *Table) Further(missing []string, dates []Dates) (*Table, error) {
	of := *t
	of.Values = slices.Clone(t.Values)
	of.reading.Missing = append(slices.Clip(t.reading.Missing), missing...)
	of.reading.Dates = slices.Clone(t.reading.Dates)
	if missing != nil {
		of.reread()
		if err := of.forget(of.reading); err != nil {
			return nil, err
		}
	} else {
		of.Text = slices.Clone(t.Text)
		of.codes = slices.Clone(t.codes)
	}
	for _, d := range dates {
		if err := of.date(&d); err != nil {
			return nil, err
		}
		of.reading.Dates = append(of.reading.Dates, d)
	}
	return &of, nil
}

// reread makes gaps of texts that stand for missing values, and numbers of the cells of a column
// that holds no other texts then.
func (t *Table) reread() {
	t.Text = slices.Clone(t.Text)
	for j, texts := range t.Text {
		if texts == nil {
			continue
		}
		left := []string{}
		place := make([]float64, len(texts)) // among the texts that are left, from 1; 0: not known
		for _, cell := range t.held(j) {
			if *cell != *cell {
				continue
			}
			at := &place[int(*cell)]
			if text := texts[int(*cell)]; *at == 0 && t.reading.misses(t.Names[j], text) {
				*at = math.NaN()
			} else if *at == 0 {
				left = append(left, text)
				*at = float64(len(left))
			}
			*cell = *at - 1
		}
		t.Text[j] = left
	}
	t.restore()
}

// Reading returns how the table was read, including the forms that were found for dates.
func (t *Table) Reading() Reading { return t.reading.Naming() }

// ReadAs returns a table with the same cells and the reading r.
// Its numbers stay as they were written.
func (t *Table) ReadAs(r Reading) *Table {
	as := *t
	as.reading = r
	as.written = cmp.Or(t.written, &t.reading)
	return &as
}

// New returns a table in memory without rows. Append and Set read its cells as r says.
func (r Reading) New(source string) *Table { return &Table{Source: source, reading: r} }

// forget turns numbers that stand for missing values into NaN, in columns of numbers.
func (t *Table) forget(r Reading) error {
	for _, text := range r.Missing {
		for j, name := range t.Names {
			of, in := inColumn(text, name)
			if !in {
				of = text
			}
			var misses func(v float64) bool
			// a limit comes first, since a number may be written so too (Below and Above)
			if end, side, err := r.limit(of); err == nil && in {
				misses = func(v float64) bool { return side*(v-end) > 0 }
			} else if number, err := r.Parse(of); err == nil {
				misses = func(v float64) bool { return v == number }
			} else {
				continue
			}
			if t.Texts(j) != nil {
				continue
			}
			if t.Disk != nil {
				return fmt.Errorf("%s: numbers of a table on disk can't stand for missing values: "+
					"write it as CSV", t.Source)
			}
			for _, cell := range t.held(j) {
				if misses(*cell) {
					*cell = math.NaN()
				}
			}
		}
	}
	return nil
}

// date turns a column of dates into a column of days, and adds columns for its periods.
func (t *Table) date(d *Dates) error {
	j, found := t.Column(d.Column)
	if !found {
		return nil // code that needs the column reports that it is missing
	}
	if t.Disk != nil && len(d.Parts) > 0 {
		return fmt.Errorf("%s: column %q stays on disk, where no periodic parts can be added: "+
			"write the table as CSV", t.Source, spelling.Clip(d.Column))
	}
	if texts := t.Texts(j); texts != nil {
		// Without a form from the user, exactly one form must read every text. krigo doesn't guess.
		if d.Form == "" {
			var forms, all []string // forms: forms that read every text of the column
			for _, f := range dateForms {
				all = append(all, fmt.Sprintf("%s (%s)", f.name, f.example))
				if len(texts) > 0 && !slices.ContainsFunc(texts, f.misreads) {
					forms = append(forms, f.name)
				}
			}
			switch {
			case len(forms) == 0:
				text, row := t.notDate(j)
				return t.cell(row, j,
					fmt.Errorf("%q is not a date like the others of the column; the forms are %s",
						spelling.Clip(text), strings.Join(all, ", ")))
			case len(forms) > 1:
				return &Error{File: t.Source, Column: j + 1, Name: d.Column,
					Err: fmt.Errorf("dates such as %q may have the day or the month first: say "+
						"%s or %s", spelling.Clip(texts[0]),
						spelling.Flag("dates", d.Column+":dmy"),
						spelling.Flag("dates", d.Column+":mdy"))}
			}
			d.Form = forms[0]
		}
		if err := t.toDays(j, d.Form); err != nil {
			return err
		}
	} else if err := t.numbersToDays(j, d.Form); err != nil {
		return err
	}
	if len(d.Parts) > 0 {
		t.addPeriods(j, d.Parts)
	}
	return nil
}

// notDate returns the first text of column j that isn't a date in the form of most texts, and a row
// with this text.
func (t *Table) notDate(j int) (text string, row int) {
	texts := t.Texts(j)
	best := dateForms[0]
	most := -1
	for _, f := range dateForms {
		n := len(texts) - len(lists.If(texts, f.misreads))
		if n > most {
			best = f
			most = n
		}
	}
	for code, text := range texts {
		if best.misreads(text) {
			row, _ := t.RowOf(j, code)
			return text, row
		}
	}
	return texts[0], 0
}

// RowOf returns the first row whose cell in column j is the text with this code.
func (t *Table) RowOf(j, code int) (row int, found bool) {
	begin, _ := t.Own()
	for i, cell := range t.held(j) {
		if *cell == float64(code) {
			return begin + i, true
		}
	}
	return 0, false
}

// undatedAt keeps the first error about a cell of column j that is no date, for whoever needs the
// cell. It returns the error if the table isn't read for a model that fills gaps.
func (t *Table) undatedAt(row, j int, wrong error) error {
	if !t.reading.fills || t.Disk != nil {
		return t.cell(row, j, wrong)
	}
	if t.undated == nil {
		t.undated = map[int]error{}
		t.unread = map[place]string{}
	}
	if t.undated[j] == nil {
		t.undated[j] = t.cell(row, j, wrong)
	}
	return nil
}

// shortYear matches a date whose year has two digits.
var shortYear = regexp.MustCompile(
	`^([0-9]{1,2}[./-]([0-9]{1,2}|[A-Za-z]{3})|[A-Za-z]{3})[./-][0-9]{2}($|[^0-9])`)

// toDays turns a column of text into a column of days.
func (t *Table) toDays(j int, form string) error {
	f := formOf(form)
	texts := t.Texts(j)
	days := make([]float64, len(texts))
	var zones [2]bool // [0]: there is a time without a zone, [1]: there is a time with a zone
	for code, text := range texts {
		v, zone, ok := f.days(text)
		switch {
		case ok && zone:
			zones[1] = true
		case ok:
			zones[0] = true
		}
		if !ok {
			number, err := parse(text)
			row, _ := t.RowOf(j, code)
			day, kind, ok := DaysOfNumber(number)
			if err != nil || !ok || t.Strange(j, text) || t.bareYear(form, number) {
				if err := t.undatedAt(row, j, fmt.Errorf("%q is not a date of the form %s, such "+
					"as %s", spelling.Clip(text), f.name, f.example)); err != nil {
					return err
				}
				day = math.NaN()
			} else if kind != "dates" && t.serials[j] == nil { // unlike 20240131
				if t.serials == nil {
					t.serials = map[int]*Error{}
				}
				t.serials[j] = t.cell(row, j,
					fmt.Errorf("%s is a number among dates, perhaps a spreadsheet's, which "+
						"counts days from 1900: write it as a date, like the others",
						spelling.Clip(text)))
			}
			v = day
		} else if shortYear.MatchString(text) && !slices.Contains(t.Found.Centuries, t.Names[j]) {
			t.Found.Centuries = append(t.Found.Centuries, t.Names[j])
		}
		days[code] = v
	}
	if zones[0] && zones[1] && !slices.Contains(t.Found.Zones, t.Names[j]) {
		t.Found.Zones = append(t.Found.Zones, t.Names[j])
	}
	for i, cell := range t.held(j) {
		if *cell == *cell {
			code := int(*cell)
			if *cell = days[code]; *cell != *cell {
				t.unread[place{i, j}] = texts[code]
			}
		}
	}
	t.Text[j] = nil
	if t.codes != nil {
		t.codes[j] = nil
	}
	return nil
}

// bareYear says whether a number in a row that the model wasn't made from is a year in a column of
// dates of this form.
// As days it would be a date of the 1970s. A fit refuses numbers among dates.
func (t *Table) bareYear(form string, v float64) bool {
	return t.reading.fills && form != "" && v >= 1000 && v < 3000 && v == math.Trunc(v)
}

// numbersToDays turns numbers into days: dates such as 20240131, or seconds or milliseconds since
// 1970.
func (t *Table) numbersToDays(j int, form string) error {
	kind := ""
	begin, _ := t.Own()
	return t.Each([]int{j}, func(i int, cells []float64) error {
		v := cells[0]
		if v != v {
			return nil
		}
		days, of, ok := DaysOfNumber(v)
		switch {
		case !ok || (kind != "" && of != kind) || t.bareYear(form, v):
			if err := t.undatedAt(i, j, fmt.Errorf("%.10g is no date such as 20240131, or not "+
				"written like the dates above it", v)); err != nil {
				return err
			}
			t.unread[place{i - begin, j}] = fmt.Sprintf("%.10g", v)
			of = kind
			days = math.NaN()
		case of != "days" && t.Disk != nil:
			return fmt.Errorf("%s: column %q stays on disk, where its numbers can't be made "+
				"dates: write the table as CSV", t.Source, spelling.Clip(t.Names[j]))
		}
		if kind = of; t.Disk == nil {
			t.Values[(i-begin)*len(t.Names)+j] = days
		}
		return nil
	})
}

// addPeriods adds columns at the end of the table:
// the sine and cosine of each row's position in each period.
func (t *Table) addPeriods(j int, parts []string) {
	d := Dates{Column: t.Names[j], Parts: parts}
	begin := len(t.Names)
	t.Widen(d.Derived()...)
	for i := range t.Rows {
		row := t.Values[i*len(t.Names) : (i+1)*len(t.Names)]
		for k, part := range parts {
			p := periods[part]
			sin, cos := math.Sincos(2 * math.Pi * math.Mod(row[j]-p.begin, p.days) / p.days)
			row[begin+2*k] = sin
			row[begin+2*k+1] = cos
		}
	}
}

// Widen adds columns without values at the end of a table in memory.
func (t *Table) Widen(names ...string) {
	cols := len(t.Names)
	more := slices.Repeat([]float64{math.NaN()}, len(names))
	values := make([]float64, 0, t.Rows*(cols+len(names)))
	for i := range t.Rows {
		values = append(append(values, t.Values[i*cols:(i+1)*cols]...), more...)
	}
	t.Values = values
	t.Names = slices.Concat(t.Names, names)
	if t.Text != nil {
		t.Text = slices.Concat(t.Text, make([][]string, len(names)))
	}
	if t.codes != nil {
		t.codes = slices.Concat(t.codes, make([]map[string]float64, len(names)))
	}
}

// Kept holds columns of a table as people wrote them, to be printed beside results for the table's
// rows.
type Kept struct {
	Names []string
	Cells func(row int) ([]string, error)
}

// Labelled returns the kept columns, then the column label, then the column labels. k may be nil:
// then no column is kept. sets may be nil: then there is no column labels.
// A row's set is a list with commas, and quotes around a label that has a comma.
func (k *Kept) Labelled(label func(row int) string, sets [][]string) *Kept {
	with := Kept{Names: []string{"label"}}
	if k != nil {
		with.Names = append(slices.Clone(k.Names), "label")
	}
	if sets != nil {
		with.Names = append(with.Names, "labels")
	}
	with.Cells = func(row int) (cells []string, err error) {
		if k != nil {
			cells, err = k.Cells(row)
		}
		if cells = append(slices.Clone(cells), label(row)); sets != nil {
			var list strings.Builder
			w := csv.NewWriter(&list)
			w.Write(sets[row]) // no error: a Builder takes all
			w.Flush()
			cells = append(cells, strings.TrimSuffix(list.String(), "\n"))
		}
		return cells, err
	}
	return &with
}

// Keep returns the named columns as people wrote them.
// A text stays as it was read, a number has the fewest digits, a date is YYYY-MM-DD with its time
// if it has one, and a missing value is empty.
func (t *Table) Keep(names []string) (*Kept, error) {
	columns, err := t.columns(names)
	for _, j := range columns {
		err = cmp.Or(err, t.Refused(j))
	}
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(columns))
	return &Kept{Names: names, Cells: func(row int) ([]string, error) {
		if err := t.Read(row, 1, columns, values); err != nil {
			return nil, err
		}
		cells := make([]string, len(columns))
		for k, v := range values {
			isDate := slices.ContainsFunc(t.reading.Dates,
				func(d Dates) bool { return d.Column == names[k] && d.Form != "time" })
			switch {
			case isDate && v-v == 0:
				cells[k] = DateOf(v)
			default:
				cells[k] = cmp.Or(t.text(columns[k], v), t.unread[place{row, columns[k]}])
			}
		}
		return cells, nil
	}}, nil
}

// DateOf writes days since 1970-01-01 as a date, with its time to the microsecond unless that is
// midnight.
func DateOf(days float64) string {
	whole := math.Floor(days)
	at := time.Unix(int64(whole)*86400,
		0).UTC().Add(time.Duration(math.Round((days-whole)*86400e6)) * time.Microsecond)
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return at.Format("2006-01-02")
	}
	return at.Format("2006-01-02T15:04:05.999999")
}

// Columns returns the cells of the first `rows` rows, by the column's name.
func (k *Kept) Columns(rows int) (map[string][]string, error) {
	all := map[string][]string{}
	for i := range rows {
		cells, err := k.Cells(i)
		if err != nil {
			return nil, err
		}
		for j, name := range k.Names {
			all[name] = append(all[name], cells[j])
		}
	}
	return all, nil
}
