package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/ranks"
)

// Table is a rectangle of cells with named columns, in memory or in an NPY file that is
// read as its rows are needed.
type Table struct {
	Source string    // the file, as named by the caller
	Names  []string  // column names, distinct
	Rows   int       // number of rows
	Values []float64 // Rows×len(Names), row-major, NaN where one is missing; nil for a table on disk
	Lines  []int     // line of the file on which each row starts, from 1; nil for a table on disk

	// Text lists, by column, the texts of one that holds text: its Values are places in the
	// list. It is nil for columns of numbers, and as a whole where all are.
	Text [][]string

	headless bool                 // the file named no columns
	codes    []map[string]float64 // by column, the places of its texts
	disk     *npy                 // where the rows are, unless in Values
	part     *part                // the rows that this rank has, where they aren't all
}

// Close gives back the file of a table on disk, which can't be read afterwards. A table
// in memory has nothing to close.
func (t *Table) Close() error {
	if t.disk == nil {
		return nil
	}
	return t.disk.close()
}

// Column returns the index of the named column and whether there is one.
func (t *Table) Column(name string) (int, bool) {
	j := slices.Index(t.Names, name)
	return j, j >= 0
}

// Where says where a row, counted from 0, stands in the file: its line, or its number,
// from 1.
func (t *Table) Where(row int) string {
	inFile, held := t.where(row)
	if t.Lines == nil {
		return "row " + strconv.Itoa(inFile+1)
	}
	return "line " + strconv.Itoa(t.Lines[held])
}

// read copies the given columns of rows first, …, first+n−1 to out, row by row.
func (t *Table) read(first, n int, columns []int, out []float64) error {
	if p := t.part; p != nil && (first < p.first || first+n > p.first+p.rows) {
		return fmt.Errorf("%s: rows %d to %d asked for, which another rank has", t.Source, first+1, first+n)
	}
	_, first = t.where(first)
	if t.disk != nil {
		return t.disk.read(first, n, columns, out)
	}
	for i := first; i < first+n; i++ {
		row := t.Values[i*len(t.Names):]
		for _, j := range columns {
			out[0] = row[j]
			out = out[1:]
		}
	}
	return nil
}

// Unlabelled views the named columns as inputs without a target, in that order. Other
// columns are ignored; the error lists every name that is missing. A file without a
// header that has just as many columns is taken to hold them in order.
func (t *Table) Unlabelled(inputs []string) (*Data, error) {
	columns, err := t.inputs(inputs)
	if err == nil {
		err = t.check(uses(columns)...)
	}
	if err != nil {
		return nil, err
	}
	return t.view(inputs, columns), nil
}

// inputs returns where the named columns are: in a file without a header that has just as
// many, in order.
func (t *Table) inputs(names []string) ([]int, error) {
	if t.headless && len(t.Names) == len(names) {
		return upTo(len(names)), nil
	}
	return t.columns(names)
}

func (t *Table) view(inputs []string, columns []int) *Data {
	return &Data{Source: t.Source, Inputs: inputs, Rows: t.Rows, Cols: len(inputs), table: t, inputs: columns}
}

// uses reads columns for numbers.
func uses(columns []int) []use {
	all := make([]use, len(columns))
	for k, j := range columns {
		all[k].column = j
	}
	return all
}

// columns returns where the named columns are.
func (t *Table) columns(names []string) ([]int, error) {
	columns := make([]int, len(names))
	var missing []string
	for k, name := range names {
		j, ok := t.Column(name)
		if !ok {
			missing = append(missing, name)
		}
		columns[k] = j
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: input columns missing: %s; %s",
			t.Source, quoted(missing, len(missing)), t.describeColumns())
	}
	return columns, nil
}

// column returns where the column is that is to be something.
func (t *Table) column(name, something string) (int, error) {
	at, ok := t.Column(name)
	if ok {
		return at, nil
	}
	hint := ""
	if name, ok := nearest(name, t.Names); ok {
		hint = fmt.Sprintf("; did you mean %q?", name)
	}
	return 0, fmt.Errorf("%s: no column %q %s%s; %s", t.Source, name, something, hint, t.describeColumns())
}

// but lists all columns but those.
func (t *Table) but(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(t.Names), func(name string) bool { return slices.Contains(names, name) })
}

// Regression splits the table into the named target and, as inputs, all other
// columns in file order that aren't to be ignored. There must be something to learn: two rows, an
// input, a target that isn't constant.
func (t *Table) Regression(target string, ignored ...string) (*Data, error) {
	d, err := t.labelled(t.but(append(ignored, target)...), target)
	if err != nil {
		return nil, err
	}
	fit := uses(d.inputs)
	for k := range fit {
		fit[k].fitting = true
	}
	if err := t.check(append(fit, uses(d.target)...)...); err != nil {
		return nil, err
	}
	if err := d.learnable(); err != nil {
		return nil, err
	}
	return d, nil
}

// learnable says what keeps anything from being learnt.
func (d *Data) learnable() error {
	switch {
	case d.Cols == 0:
		return fmt.Errorf("%s: the target %q is the only column: add at least one input column",
			d.Source, d.Target)
	case d.Rows < 2:
		return fmt.Errorf("%s: %d row of data: at least 2 are needed", d.Source, d.Rows)
	}
	y, err := d.Targets(d.All())
	if err != nil {
		return err
	}
	low, high := math.Inf(1), math.Inf(-1)
	if len(y) > 0 {
		low, high = slices.Min(y), slices.Max(y)
	}
	ends, err := ranks.All(d.Ranks(), low, high)
	if err != nil {
		return err
	}
	for _, of := range ends {
		low, high = min(low, of[0]), max(high, of[1])
	}
	if low == high {
		return fmt.Errorf("%s: every value of target %q is %g: nothing to learn; choose another target",
			d.Source, d.Target, low)
	}
	return nil
}

// Select picks the named inputs, in that order, and the target: rows for a model that
// is already trained.
func (t *Table) Select(inputs []string, target string) (*Data, error) {
	d, err := t.labelled(inputs, target)
	if err == nil {
		err = t.check(append(uses(d.inputs), uses(d.target)...)...)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (t *Table) labelled(inputs []string, target string) (*Data, error) {
	at, err := t.column(target, "for the target")
	if err != nil {
		return nil, err
	}
	columns, err := t.columns(inputs)
	if err != nil {
		return nil, err
	}
	d := t.view(inputs, columns)
	d.Target, d.target = target, []int{at}
	return d, nil
}

// describeColumns says what the table has, for errors about what it has not.
func (t *Table) describeColumns() string {
	s := "the columns are " + quoted(t.Names, 20)
	if t.headless {
		s += " (the file has no header line, so they were numbered and the last named y; add a header)"
	}
	return s
}

// quoted lists names, at most limit of them, then a count of the rest.
func quoted(names []string, limit int) string {
	var b strings.Builder
	for i, name := range names {
		if i == limit {
			fmt.Fprintf(&b, " and %d more", len(names)-limit)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", clip(name))
	}
	return b.String()
}

// nearest returns the name closest to want by edit distance without regard to
// case, if at least half of it agrees: a farther one would be a bad guess.
func nearest(want string, names []string) (string, bool) {
	const longest = 100 // a longer word is no typing error, and the distance is quadratic
	best, found, distance := "", false, 0
	a := []rune(strings.ToLower(want))
	for _, name := range names {
		b := []rune(strings.ToLower(name))
		if max(len(a), len(b)) > longest {
			continue
		}
		if d := editDistance(a, b); 2*d <= max(len(a), len(b)) && (!found || d < distance) {
			best, found, distance = name, true, d
		}
	}
	return best, found
}

// editDistance is Levenshtein's distance, by rows of the Wagner–Fischer table.
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
