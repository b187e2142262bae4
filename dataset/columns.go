package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/finding"
)

// indexName is the name that an unnamed first column gets, parquetIndex the name of the index that pandas writes to
// Parquet files. Both are a DataFrame's index, and an input only if it is asked for.
const (
	indexName    = "(index)"
	parquetIndex = "__index_level_0__"
)

// distinctMost is how many values are told apart.
const distinctMost = 10000

// Describe looks at each column of a table: what it holds, and what is to be said of it before a fit can use it. Of a
// table that is spread over ranks it sees this rank's rows.
func (t *Table) Describe() ([]ColumnFacts, error) {
	if err := t.fits(); err != nil {
		return nil, err
	}
	return t.describe(upTo(len(t.Names)))
}

func (t *Table) describe(columns []int) ([]ColumnFacts, error) {
	tallies := make([]tally, len(columns))
	for k, j := range columns {
		tallies[k] = tally{low: math.Inf(1), high: math.Inf(-1), rising: true, groups: true, seen: map[float64]int{},
			last: math.NaN(), text: t.texts(j) != nil}
	}
	x := make([]float64, min(t.Rows, blockRows)*len(columns))
	begin, own := t.own()
	strays := t.strayRows()
	for i := begin; i < begin+own; i += blockRows {
		n := min(blockRows, begin+own-i)
		cells := x[:n*len(columns)]
		if err := t.read(i, n, columns, cells); err != nil {
			return nil, err
		}
		for c, v := range cells {
			if !strays[i+c/len(columns)] {
				tallies[c%len(columns)].add(v)
			}
		}
	}
	facts := make([]ColumnFacts, len(columns))
	for k, j := range columns {
		facts[k] = t.facts(j, own-len(strays), &tallies[k])
	}
	pointed(facts, tallies)
	return facts, nil
}

// tally counts the cells of a column.
type tally struct {
	text      bool
	missing   int
	low, high float64
	rising    bool // each is one more than that before it
	last      float64
	counted   int
	seen      map[float64]int // how often each value, or text, stands there
	more      bool            // there are too many to count
	broken    bool            // there are values that aren't whole
	groups    bool            // these may be thousands: of one to three digits before a point and three behind it
	third     bool            // of which some last one isn't 0
}

func (a *tally) add(v float64) {
	if v != v {
		a.missing++
		return
	}
	a.counted++
	a.low, a.high = min(a.low, v), max(a.high, v)
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

// facts says what one column is.
func (t *Table) facts(j, rows int, a *tally) ColumnFacts {
	f := ColumnFacts{Name: t.Names[j], Cells: rows, Missing: a.missing, Distinct: min(len(a.seen), distinctMost+1)}
	if t.texts(j) != nil {
		t.textFacts(&f, j, a)
		return f
	}
	f.Kind = "number"
	if a.counted > 0 {
		f.Low, f.High = a.low, a.high
	}
	switch {
	case a.counted == 0:
		f.Kind, f.Why, f.Advice, f.Unfit = "empty", "it has no values", []Advice{{"ignore", f.Name}}, true
	case (f.Name == indexName || f.Name == parquetIndex) && a.counted > 1 && (a.rising || t.permutes(j, a)):
		f.Kind, f.Why = "index", "the row numbers of a DataFrame, which fits leave out"
	case f.Name == indexName || f.Name == parquetIndex:
		f.Kind, f.Why, f.unnamed = "index", unnamed.String(), true
	case a.low == a.high:
		f.Kind, f.Why, f.Advice = "constant", "the same value in every row", []Advice{{"ignore", f.Name}}
	case a.rising && a.counted >= 10:
		f.Kind, f.Why, f.Advice = "identifier", "counts up row by row: if it names rows, leave it out",
			[]Advice{{"ignore", f.Name}}
	case !a.broken && max(a.high, -a.low) >= wholeMost && max(a.high, -a.low) < 1<<64:
		f.Why = fmt.Sprintf("whole numbers of 2^53 and more are rounded, here to multiples of %.0f",
			math.Nextafter(max(a.high, -a.low), math.Inf(1))-max(a.high, -a.low))
	}
	return f
}

// permutes says whether the values of a column are 0 to n−1, or 1 to n, in whatever order.
func (t *Table) permutes(j int, a *tally) bool {
	if a.missing > 0 || a.broken || a.low != 0 && a.low != 1 || a.high-a.low != float64(a.counted-1) {
		return false
	}
	seen := make([]bool, a.counted)
	x := make([]float64, blockRows)
	begin, own := t.own()
	strays := t.strayRows()
	for i := begin; i < begin+own; i += blockRows {
		cells := x[:min(blockRows, begin+own-i)]
		if t.read(i, len(cells), []int{j}, cells) != nil {
			return false
		}
		for k, v := range cells {
			if strays[i+k] {
				continue
			}
			at := int(v - a.low)
			if seen[at] {
				return false
			}
			seen[at] = true
		}
	}
	return true
}

// textFacts says what one column of text is.
func (t *Table) textFacts(f *ColumnFacts, j int, a *tally) {
	texts := t.texts(j)
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
		if v, err := parse(text); err != nil || v-v != 0 || t.strange(j, text) {
			c.strange = append(c.strange, code)
		}
	}
	f.Examples = c.of(c.strange[:min(len(c.strange), 3)])
	if len(c.strange) > 0 {
		if row, found := t.rowOf(j, c.strange[0]); found {
			f.First = t.Where(row)
		}
	}
	switch {
	case c.cells == 0:
		f.Kind, f.Why, f.Advice = "empty", "it has no values", []Advice{{"ignore", f.Name}}
		return
	case len(c.strange) == 0: // but in rows that seem to be none
		f.Kind, f.Unfit = "number", false
		f.Low, f.High = c.span()
		return
	}
	c.explain(f)
	if f.Name == indexName || f.Name == parquetIndex {
		f.Kind, f.Why, f.Then, f.Advice, f.Unfit = "index", unnamed.String(), "", nil, false
		f.unnamed = true
	}
}

// unnamed says why fits leave out a column that may be no row numbers.
var unnamed = finding.New(finding.UnnamedColumn)

// pointed says of columns of numbers with a point, where others have decimal commas, that it groups thousands, or else
// that it doesn't fit.
func pointed(facts []ColumnFacts, tallies []tally) {
	commas := slices.ContainsFunc(facts, func(f ColumnFacts) bool {
		return !f.Either &&
			slices.Contains(f.Advice, Advice{"decimal", ","})
	})
	for k := range facts {
		f, a := &facts[k], &tallies[k]
		if !commas || a.text || !a.broken {
			continue
		}
		if f.Unfit = true; a.groups && a.third {
			f.Why, f.Advice = "points in numbers, where others have decimal commas: they group thousands",
				[]Advice{{"thousands", "."}}
		} else {
			f.Why, f.Then, f.Advice = "decimal points, where others have decimal commas", "write them in one way", nil
		}
	}
}

// ColumnsError says which columns can't be what they are wanted for, and what to say of each.
type ColumnsError struct {
	File    string
	Columns []ColumnFacts
	Gaps    []string     // columns that would do, if they had no missing values
	Strays  finding.List // rows that seem to be none (Table.Strays)
	Cell    error        // what is wrong with the first cell that is
	astray  bool         // which stands in a row that seems to be none
}

// Unwrap returns what is wrong with a cell.
func (e *ColumnsError) Unwrap() error { return e.Cell }

// Error lists them, a line each, or says what is wrong with a cell where no column is at fault as a whole.
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

func (e *ColumnsError) columns() string {
	if len(e.Columns) == 0 {
		return e.Cell.Error()
	}
	describe := func(f ColumnFacts) string {
		text := f.Why
		if f.First != "" {
			text += " (first in " + f.First + ")"
		}
		if len(f.Advice) > 0 {
			text += "; say " + f.Flags()
		}
		if f.Then != "" {
			text += "; " + f.Then
		}
		if f.Kind == "category" && len(f.Advice) > 0 {
			text += " or --ignore " + Shell(f.Name)
		}
		return text
	}
	if len(e.Columns) == 1 && len(e.Gaps) == 0 {
		f := e.Columns[0]
		return fmt.Sprintf("%s: column %q is no column of numbers: %s", e.File, clip(f.Name), describe(f))
	}
	var b strings.Builder
	if len(e.Columns) == 1 {
		fmt.Fprintf(&b, "%s: a column is no column of numbers:", e.File)
	} else {
		fmt.Fprintf(&b, "%s: %d columns are no columns of numbers:", e.File, len(e.Columns))
	}
	const most = 20
	for _, f := range e.Columns[:min(len(e.Columns), most)] {
		fmt.Fprintf(&b, "\n  %s: %s", Printable(clip(f.Name)), describe(f))
	}
	if more := len(e.Columns) - most; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more, which krigo inspect lists", more)
	}
	if len(e.Gaps) > 0 {
		fmt.Fprintf(&b, "\nand values are missing of %s; say --missing mean, or leave such rows out", quoted(e.Gaps, 10))
	}
	return b.String()
}

// fit says what keeps columns from being fitted: whole columns, or else cells.
func (t *Table) fit(uses []use) error {
	for _, u := range uses { // rows to be predicted may have either
		if at := t.serials[u.column]; at != nil {
			return at
		}
	}
	err := t.check(uses...)
	if err == nil {
		return nil
	}
	e, failed := t.misfits(uses)
	if failed != nil {
		return failed
	}
	e.Cell = err
	var at *Error
	e.astray = errors.As(err, &at) && t.strayRows()[at.Row-1]
	return e
}

// misfits says which columns can't be read for what they are wanted.
func (t *Table) misfits(uses []use) (*ColumnsError, error) {
	columns := make([]int, len(uses))
	for k, u := range uses {
		columns[k] = u.column
	}
	facts, err := t.describe(columns)
	if err != nil {
		return nil, err
	}
	e := &ColumnsError{File: t.Source, Strays: t.Strays()}
	for k, f := range facts {
		u := uses[k]
		if u.fitting && f.Missing > 0 && !u.gaps && f.Kind != "empty" {
			e.Gaps = append(e.Gaps, f.Name)
		}
		if !f.Unfit || u.categorical {
			continue
		}
		if !u.fitting { // the target, which can't be left out
			f = f.AsTarget()
		}
		e.Columns = append(e.Columns, f)
	}
	return e, nil
}

// Leave returns the columns that are no inputs: those that none of the patterns of inputs names, where there are any,
// and those that one of the ignored does. A pattern is a name, or has * for any text and ? for a character. The target,
// and a column that rows are grouped by, are inputs in no case.
func (t *Table) Leave(inputs, ignored []string, target, group string) (left []string, err error) {
	known := func(pattern, flag string) error {
		if !slices.ContainsFunc(t.Names, func(name string) bool { return matches(pattern, name) }) {
			if _, err := t.column(pattern, "to be named by --"+flag); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := t.column(target, "for the target"); err != nil {
		return nil, err
	}
	if err := t.Dated(); err != nil {
		return nil, err
	}
	for _, pattern := range inputs {
		if err := known(pattern, "inputs"); err != nil {
			return nil, err
		}
	}
	for _, pattern := range ignored {
		if err := known(pattern, "ignore"); err != nil {
			return nil, err
		}
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q is to be ignored too: name another", t.Source, clip(target))
		}
	}
	left = Left(t.Names, inputs, ignored, target, group)
	for _, pattern := range inputs {
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q can't be an input too", t.Source, clip(target))
		}
	}
	if len(inputs) > 0 && len(left)+1 >= len(t.Names) {
		return nil, errors.New(t.Source + ": no inputs are left: name others with --inputs, or ignore fewer")
	}
	return left, nil
}

// Left is what Leave returns of a table with these columns, whether or not it has those that the patterns name.
func Left(names, inputs, ignored []string, target, group string) (left []string) {
	named := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
	}
	for _, name := range names {
		switch {
		case name == target:
		case name == group, named(ignored, name), len(inputs) > 0 && !named(inputs, name),
			len(inputs) == 0 && (name == indexName || name == parquetIndex):
			left = append(left, name)
		}
	}
	return left
}

// matches says whether a name is that of a pattern, which may be the name itself whatever characters it has.
func matches(pattern, name string) bool {
	if pattern == name {
		return true
	}
	p, n := []rune(pattern), []rune(name)
	star, from := -1, 0 // the last star, and what it began with
	i, k := 0, 0
	for k < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, k
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[k]):
			i++
			k++
		case star >= 0:
			from++
			i, k = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
