package inspect

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// distinctMost is the largest number of different values that are counted.
const distinctMost = 10000

// Describe looks at each column of a table. It says what the column holds, and what a person has to
// say about it before a fit can use it. If the table is spread over ranks, it sees this rank's
// rows.
func Describe(t *dataset.Table) ([]ColumnFacts, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	return describe(t, linalg.UpTo(len(t.Names)))
}

// describe returns the facts of these columns, from one pass over the rows that aren't strays.
func describe(t *dataset.Table, columns []int) ([]ColumnFacts, error) {
	tallies := lists.Of(columns, func(j int) tally {
		return tally{low: math.Inf(1), high: math.Inf(-1), rising: true, groups: true,
			seen: map[float64]int{}, last: math.NaN(), text: t.Texts(j) != nil}
	})
	_, own := t.Own()
	strays := strayRows(t)
	if err := t.Each(columns, func(i int, cells []float64) error {
		for k, v := range cells {
			if !strays[i] {
				tallies[k].add(i, v)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	facts := lists.To(len(columns), func(k int) ColumnFacts {
		return factsOf(t, columns[k], own-len(strays), &tallies[k])
	})
	pointed(facts, tallies)
	return facts, nil
}

// tally counts the cells of a column.
type tally struct {
	text      bool
	missing   int
	gap, row  int // the first row without, and with, a value
	low, high float64
	rising    bool // each value is one more than the value before
	last      float64
	counted   int
	seen      map[float64]int // how often each value, or text, occurs
	more      bool            // there are too many to count
	broken    bool            // some values aren't whole
	// values may be thousands, with one to three digits before a point and three after it
	groups bool
	third  bool // the last of the three digits isn't always 0
}

// add counts the cell of row i. v is a number, the code of a text, or NaN for a missing value.
func (a *tally) add(i int, v float64) {
	if v != v {
		if a.missing++; a.missing == 1 {
			a.gap = i
		}
		return
	}
	if a.counted++; a.counted == 1 {
		a.row = i
	}
	a.low = min(a.low, v)
	a.high = max(a.high, v)
	if a.counted > 1 && v != a.last+1 {
		a.rising = false
	}
	a.last = v
	if v != math.Trunc(v) {
		a.broken = true
		whole := func(v float64) bool { return math.Abs(v-math.Round(v)) < 1e-6 }
		a.groups = a.groups && math.Abs(v) >= 1 && math.Abs(v) < 1000 && whole(1000*v)
		a.third = a.third || !whole(100*v)
	}
	if !a.more || a.text {
		a.seen[v]++
		a.more = len(a.seen) > distinctMost
	}
}

// wholeMost is where float64 begins to round whole numbers.
const wholeMost = 1 << 53

// factsOf returns the facts of one column.
func factsOf(t *dataset.Table, j, rows int, a *tally) ColumnFacts {
	f := ColumnFacts{Name: t.Names[j], Cells: rows, Missing: a.missing,
		Distinct: min(len(a.seen), distinctMost+1)}
	if a.missing > 0 {
		f.gap = t.Where(a.gap)
	}
	if a.counted > 0 {
		f.known = t.Where(a.row)
	}
	if err := t.Refused(j); err != nil {
		f.Kind = "refused"
		f.Why = unread(err)
		f.Unfit = true
		f.Missing = 0
		f.Advice = []Advice{{"ignore", f.Name}}
		return f
	}
	if t.Texts(j) != nil {
		textFacts(t, &f, j, a)
		return f
	}
	f.Kind = "number"
	if a.counted > 0 {
		f.Low = a.low
		f.High = a.high
	}
	// The first case that fits names the kind. Only columns of numbers come here.
	switch {
	case a.counted == 0:
		f.Kind = "empty"
		f.Why = "it has no values"
		f.Advice = []Advice{{"ignore", f.Name}}
		f.Unfit = true
	case dataset.IsIndex(f.Name) && a.counted > 1 && (a.rising || permutes(t, j, a)):
		f.Kind = "index"
		f.Why = "the row numbers of a DataFrame, which fits leave out"
	case dataset.IsIndex(f.Name):
		f.Kind, f.Why, f.unnamed = "index", unnamed.String(), true
	case a.low == a.high:
		f.Kind = "constant"
		f.Why = "the same value in every row"
		f.Advice = []Advice{{"ignore", f.Name}}
	case a.rising && a.counted >= 10 && namesRows(f.Name):
		f.Kind = "identifier"
		f.Why = "counts up row by row, as numbers of rows do"
		f.Advice = []Advice{{"ignore", f.Name}}
	case !a.broken && max(a.high, -a.low) >= wholeMost && max(a.high, -a.low) < 1<<64:
		f.Why = fmt.Sprintf("whole numbers of 2^53 and more are rounded, here to multiples of %.0f",
			math.Nextafter(max(a.high, -a.low), math.Inf(1))-max(a.high, -a.low))
	}
	return f
}

// unread returns why the cells of a column can't be read, without the file.
func unread(err error) string {
	var at *dataset.Error
	if errors.As(err, &at) && at.Line == 0 {
		return at.Err.Error()
	}
	if at != nil {
		place := *at
		place.File = ""
		return place.Error()
	}
	return err.Error()
}

// permutes says whether the values of a column are 0 to n−1, or 1 to n, in any order.
func permutes(t *dataset.Table, j int, a *tally) bool {
	if a.missing > 0 || a.broken || (a.low != 0 && a.low != 1) ||
		a.high-a.low != float64(a.counted-1) {
		return false
	}
	seen := make([]bool, a.counted)
	strays := strayRows(t)
	twice := errors.New("a number stands twice")
	return t.Each([]int{j}, func(i int, cells []float64) error {
		if at := int(cells[0] - a.low); !strays[i] {
			if seen[at] {
				return twice
			}
			seen[at] = true
		}
		return nil
	}) == nil
}

// textFacts fills in the facts of one column of text.
func textFacts(t *dataset.Table, f *ColumnFacts, j int, a *tally) {
	texts := t.Texts(j)
	f.Unfit = true
	c := &column{t: t, j: j, texts: texts, counts: make([]int, len(texts)), cells: a.counted}
	for v, n := range a.seen {
		c.counts[int(v)] = n
	}
	for code, text := range texts {
		if c.counts[code] == 0 {
			continue
		}
		c.used = append(c.used, code)
		if v, err := parse(text); err != nil || v-v != 0 || t.Strange(j, text) {
			c.strange = append(c.strange, code)
		}
	}
	f.Examples = lists.Of(c.of(c.strange[:min(len(c.strange), 3)]), spelling.Clip)
	if len(c.strange) > 0 {
		if row, found := t.RowOf(j, c.strange[0]); found {
			f.First = t.Where(row)
		}
	}
	switch {
	case c.cells == 0:
		f.Kind = "empty"
		f.Why = "it has no values"
		f.Advice = []Advice{{"ignore", f.Name}}
		return
	case len(c.strange) == 0:
		// all cells are numbers, except in rows that seem to be no rows of the table
		f.Kind = "number"
		f.Unfit = false
		values := lists.Of(c.of(c.used), func(text string) float64 {
			v, _ := parse(text)
			return v
		})
		f.Low = slices.Min(values)
		f.High = slices.Max(values)
		return
	}
	c.explain(f)
	if dataset.IsIndex(f.Name) {
		f.Kind, f.Why, f.Then, f.Advice, f.Unfit = "index", unnamed.String(), "", nil, false
		f.unnamed = true
	}
}

// unnamed says why fits leave out a column that may hold no row numbers.
var unnamed = finding.New(finding.UnnamedColumn)

// pointed looks at columns of numbers with a point in a table where other columns have decimal
// commas. It says that the point groups thousands, or that such a column doesn't fit.
func pointed(facts []ColumnFacts, tallies []tally) {
	commas := slices.ContainsFunc(facts, func(f ColumnFacts) bool {
		return !f.Either && slices.Contains(f.Advice, Advice{"decimal", ","})
	})
	for k := range facts {
		f := &facts[k]
		a := &tallies[k]
		if !commas || a.text || !a.broken {
			continue
		}
		if f.Unfit = true; a.groups && a.third {
			f.Why = "points in numbers, where others have decimal commas: they group thousands"
			f.Advice = []Advice{{"thousands", "."}}
		} else {
			f.Why = "decimal points, where others have decimal commas"
			f.Then = "write them in one way"
			f.Advice = nil
		}
	}
}

// ColumnsError lists the columns that can't have the use that the user asks for, and what to tell
// the user about each column.
type ColumnsError struct {
	File    string
	Columns []ColumnFacts
	Gaps    []string     // columns that could be used if they had no missing values
	Strays  finding.List // rows that seem to be no rows of the table (Table.Strays)
	Cell    error        // what is wrong with the first bad cell
	astray  bool         // the cell stands in a row that seems to be no row of the table
}

// Unwrap returns what is wrong with the first bad cell.
func (e *ColumnsError) Unwrap() error { return e.Cell }

// Error lists the columns, one per line. If no column is wrong as a whole, it says what is wrong
// with a cell.
func (e *ColumnsError) Error() string {
	if len(e.Columns) == 0 && e.astray {
		return e.File + ": " + strings.Join(e.Strays.Words(), "\n")
	}
	text := e.columns()
	for _, f := range e.Strays {
		text += "\n" + f.String()
	}
	return text
}

// columns lists up to 20 of the columns, with what to do about each, and columns with gaps.
func (e *ColumnsError) columns() string {
	if len(e.Columns) == 0 {
		return e.Cell.Error()
	}
	describe := func(f ColumnFacts) string {
		if f.Kind == "category" && len(f.Advice) > 0 {
			return f.String() + " or " + spelling.Flag("ignore", f.Name)
		}
		return f.String()
	}
	if len(e.Columns) == 1 && len(e.Gaps) == 0 {
		return fmt.Sprintf("%s: column %q is no column of numbers: %s", e.File,
			spelling.Clip(e.Columns[0].Name), describe(e.Columns[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of numbers:", e.File, spelling.Either(len(e.Columns) == 1,
		"a column is no column", fmt.Sprintf("%d columns are no columns", len(e.Columns))))
	const most = 20
	for _, f := range e.Columns[:min(len(e.Columns), most)] {
		fmt.Fprintf(&b, "\n  %s: %s", spelling.Printable(spelling.Clip(f.Name)), describe(f))
	}
	if more := len(e.Columns) - most; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more, which krigo inspect lists", more)
	}
	if len(e.Gaps) > 0 {
		fmt.Fprintf(&b, "\nand values are missing of %s; say --missing mean, or leave such "+
			"rows out", spelling.Quoted(e.Gaps, 10))
	}
	return b.String()
}

// Explain returns err. If err says that a table's columns can't be fitted as asked
// ([dataset.Misfit]), Explain returns a [ColumnsError] instead, which says what the columns hold.
func Explain(err error) error {
	var m *dataset.Misfit
	if !errors.As(err, &m) {
		return err
	}
	facts, failed := describe(m.Table, m.Columns)
	if failed != nil {
		return failed
	}
	e := &ColumnsError{File: m.Table.Source, Strays: Strays(m.Table), Cell: m.Cell}
	for k, f := range facts {
		target := k == len(facts)-1
		if !target && f.Missing > 0 && !m.Encoding.Fills() && f.Kind != "empty" {
			e.Gaps = append(e.Gaps, f.Name)
		}
		if !f.Unfit || (!target && m.Encoding.Categorical(k)) {
			continue
		}
		if target { // the target can't be left out
			f = f.AsTarget(m.Table)
		}
		e.Columns = append(e.Columns, f)
	}
	var at *dataset.Error
	e.astray = errors.As(m.Cell, &at) && strayRows(m.Table)[at.Row-1]
	return e
}
