package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// A table: its rows, wherever they are, its columns by name, which of them become inputs, and its ranks.

// Table is a rectangle of cells with named columns, in memory or in an NPY file that is
// read as its rows are needed. One that is made by hand, of its fields, is checked when it is
// seen as [Data]; [FromRows] and [FromMatrix] check at once.
//
// Several goroutines may read a table at once, but none while another calls Append, Set or Close.
type Table struct {
	Source string    // the file, as named by the caller
	Names  []string  // column names, distinct
	Rows   int       // number of rows
	Values []float64 // Rows×len(Names), row-major, NaN where one is missing; nil for a table on disk
	Lines  []int     // line of the file on which each row starts, from 1; nil for a table on disk

	// Text lists, by column, the texts of one that holds text: its Values are places in the
	// list. It is nil for columns of numbers, and as a whole where all are.
	Text [][]string

	Disk  Store  // where the rows are, unless in Values
	Sheet string // of a workbook, whose rows Lines are; "" of other files
	Found Found  // what reading found out

	codes   []map[string]float64 // by column, the places of its texts
	reading Reading              // how cells are written
	serials map[int]*Error       // of columns of dates, the first number among them
	odd     map[oddText]bool     // texts that are numbers elsewhere
	part    *part                // the rows that this rank has, where they aren't all
	numbers []int                // in the file, from 0, of this rank's rows, where others were left out; else nil
	ctx     context.Context      // with which reading ends; nil: with none

	heavy float64 // bytes of the texts
	// why rows are left out: that the table takes more memory than it may, or that names would be one
	over  error
	named map[oddText]string // how numbers in columns that name things are written
}

// oddText is a text in a column that would be a number if cells were written otherwise.
type oddText struct {
	column int
	text   string
}

// Found is what people are told of how a table was read (package inspect).
type Found struct {
	Headless  bool             // the file named no columns
	Centuries []string         // columns of dates with years of two digits
	Zones     []string         // columns in which some times name their zone and others don't
	Units     []map[string]int // by column, how many numbers stand beside each unit, or none, where units were named
	Dropped   int              // rows that were left out, as they repeat others
	Skipped   int              // lines above the table
	// rows that were left out, as they have no target: of the table of Data
	Untargeted int
	Below      map[int]Written // by column, cells below a limit that were read as half of it
	Padded     map[int]Written // by column, whole numbers that begin with 0, as 01234
}

// Written says how cells of a column are written.
type Written struct {
	Cells int    // how many
	First string // where the first stands
	Width int    // the characters of each, 0: they differ
}

// Store holds the rows of a table that aren't in memory. Several goroutines may read it at once.
type Store interface {
	// Read copies the given columns of rows first, …, first+count−1 to out, row by row.
	Read(first, count int, columns []int, out []float64) error
	Close() error
}

// part says which rows of a table this rank has.
type part struct {
	ranks  ranks.Ranks
	first  int // number of the first of them among the rows of all ranks
	rows   int
	inFile int // number of the first of them in its file
	held   int // and in what this process can read: the file, or memory
}

// Close gives back the file of a table on disk, which can't be read afterwards. A table
// in memory has nothing to close.
func (t *Table) Close() error {
	if t.Disk == nil {
		return nil
	}
	return t.Disk.Close()
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
	switch {
	case t.Lines == nil:
		return "row " + strconv.Itoa(inFile+1)
	case t.Sheet != "":
		return fmt.Sprintf("row %d of sheet %q", t.Lines[held], spelling.Clip(t.Sheet))
	}
	return "line " + strconv.Itoa(t.Lines[held])
}

// place is where a row, counted from 0, stands in the file, as Where says it.
func (t *Table) place(row int) *Error {
	inFile, held := t.where(row)
	if t.Lines == nil || t.Lines[held] == 0 {
		return &Error{File: t.Source, Row: inFile + 1}
	}
	return &Error{File: t.Source, Sheet: t.Sheet, Line: t.Lines[held]}
}

// cell is the error of a cell of column j, with the place of its row.
func (t *Table) cell(row, j int, err error) *Error {
	at := t.place(row)
	if at.Line > 0 {
		at.Row = row + 1
	}
	at.Column, at.Name, at.Err = j+1, t.Names[j], err
	return at
}

// blockRows is how many rows are read at a time where all are gone through.
const blockRows = 4096

// Read copies the given columns of rows first, …, first+n−1, which this rank has, to out, row by row.
func (t *Table) Read(first, n int, columns []int, out []float64) error {
	if p := t.part; p != nil && (first < p.first || first+n > p.first+p.rows) {
		return fmt.Errorf("%s: rows %d to %d asked for, which another rank has", t.Source, first+1, first+n)
	}
	if t.ctx != nil && t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	_, first = t.where(first)
	if t.Disk != nil {
		return t.Disk.Read(first, n, columns, out)
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

// Each passes on the given cells of each row that this rank has.
func (t *Table) Each(columns []int, row func(i int, cells []float64) error) error {
	begin, own := t.Own()
	x := make([]float64, min(own, blockRows)*len(columns))
	for first := begin; first < begin+own; first += blockRows {
		n := min(blockRows, begin+own-first)
		if err := t.Read(first, n, columns, x[:n*len(columns)]); err != nil {
			return err
		}
		for i := range n {
			if err := row(first+i, x[i*len(columns):(i+1)*len(columns)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Within is the same table for work that ends with a context: reading its rows is then ctx's error. Predicting,
// certifying and evaluating read them block by block. Of the two, one is closed.
func (t *Table) Within(ctx context.Context) *Table {
	within := *t
	within.ctx = ctx
	return &within
}

// Ranks are those that the rows are spread over.
func (t *Table) Ranks() ranks.Ranks {
	if t.part == nil || t.part.ranks == nil {
		return ranks.Alone{}
	}
	return t.part.ranks
}

// Own returns the rows that this rank has: where they begin, and how many they are.
func (t *Table) Own() (first, n int) {
	if t.part == nil {
		return 0, t.Rows
	}
	return t.part.first, t.part.rows
}

// where returns the number of a row in its file, and in what this process can read.
func (t *Table) where(row int) (inFile, held int) {
	inFile, held = row, row
	if p := t.part; p != nil {
		row -= p.first
		inFile, held = row+p.inFile, row+p.held
	}
	if t.numbers != nil {
		inFile = t.numbers[row]
	}
	return inFile, held
}

// inputs returns where the named columns are: in a file without a header that has just as
// many, in order.
func (t *Table) inputs(names []string) ([]int, error) {
	if t.Found.Headless && len(t.Names) == len(names) {
		return linalg.UpTo(len(names)), nil
	}
	return t.columns(names)
}

// columns returns where the named columns are.
func (t *Table) columns(names []string) ([]int, error) {
	columns := make([]int, len(names))
	at := make(map[string]int, len(t.Names)) // there may be very many
	for j, name := range t.Names {
		if _, twice := at[name]; !twice {
			at[name] = j
		}
	}
	var missing []string
	for k, name := range names {
		j, ok := at[name]
		if !ok {
			missing = append(missing, name)
		}
		columns[k] = j
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: input columns missing: %s; %s",
			t.Source, spelling.Quoted(missing, len(missing)), t.describeColumns())
	}
	return columns, nil
}

// column returns where the column is that is to be something.
func (t *Table) column(name, something string) (int, error) {
	at, ok := t.Column(name)
	if ok {
		return at, nil
	}
	return 0, fmt.Errorf("%s: no column %q %s%s; %s", t.Source, name, something, spelling.DidYouMean(name, t.Names),
		t.describeColumns())
}

// Dated makes sure that every column that the reading calls dates is there. A table to be predicted may lack those that
// aren't inputs.
func (t *Table) Dated() error {
	for _, d := range t.reading.Dates {
		if _, err := t.column(d.Column, "to be named by --dates"); err != nil {
			return err
		}
	}
	return nil
}

// but lists all columns but those.
func (t *Table) but(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(t.Names), func(name string) bool { return slices.Contains(names, name) })
}

// describeColumns says what the table has, for errors about what it has not.
func (t *Table) describeColumns() string {
	s := "the columns are " + spelling.Quoted(t.Names, 20)
	if t.Found.Headless && t.reading.Header == "" {
		s += " (the file has no header line, so they were numbered and the last named y; add a header)"
	}
	return s
}

// The names of a DataFrame's index, which is an input only if it is asked for.
const (
	IndexName   = "(index)"           // that an unnamed first column gets
	pandasIndex = "__index_level_0__" // that pandas writes to Parquet files
)

// IsIndex says whether a column of this name is a DataFrame's index.
func IsIndex(name string) bool { return name == IndexName || name == pandasIndex }

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
			return nil, fmt.Errorf("%s: the target %q is to be ignored too: name another", t.Source, spelling.Clip(target))
		}
	}
	left = slices.DeleteFunc(Left(t.Names, inputs, ignored, target, group),
		func(name string) bool { return name == target })
	for _, pattern := range inputs {
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q can't be an input too", t.Source, spelling.Clip(target))
		}
	}
	if len(inputs) > 0 && len(left)+1 >= len(t.Names) {
		return nil, errors.New(t.Source + ": no inputs are left: name others with --inputs, or ignore fewer")
	}
	return left, nil
}

// Left returns which of these columns are no inputs by the patterns, whether or not there are columns that they name.
// Those of the own, as the target and the column that rows are grouped by, never are.
func Left(names, inputs, ignored []string, own ...string) (left []string) {
	named := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
	}
	for _, name := range names {
		switch {
		case slices.Contains(own, name), named(ignored, name), len(inputs) > 0 && !named(inputs, name),
			len(inputs) == 0 && IsIndex(name):
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

// Spread makes tables that ranks have read one that is spread over them. Where each has read all rows, whole, it keeps
// an equal share of them, in order; otherwise the rows follow in the order of ranks. After an error the table is
// closed.
func (t *Table) Spread(r ranks.Ranks, whole bool) error {
	err := t.keepPart(r, whole)
	if err = r.Agree(err); err == nil {
		err = t.join(r)
	}
	if err != nil {
		t.Close()
	}
	return err
}

// join numbers the rows among those of all ranks. The columns are those of the first rank.
func (t *Table) join(r ranks.Ranks) error {
	names, err := ranks.Bytes(r, 0, []byte(strings.Join(t.Names, "\n")))
	if err != nil {
		return err
	}
	if string(names) != strings.Join(t.Names, "\n") {
		err = fmt.Errorf("%s: %s, not those of the first rank's file", t.Source, t.describeColumns())
	}
	if err = r.Agree(err); err != nil {
		return err
	}
	t.part.first, t.Rows, err = ranks.Place(r, t.part.rows)
	return err
}

// keepPart keeps the rows that this rank has.
func (t *Table) keepPart(r ranks.Ranks, whole bool) error {
	t.part = &part{ranks: r, rows: t.Rows}
	if !whole {
		return nil
	}
	first := r.Rank() * t.Rows / r.Size()
	n := (r.Rank()+1)*t.Rows/r.Size() - first
	if n == 0 {
		return errors.New(t.Source + ": fewer rows than ranks: use fewer ranks")
	}
	t.part = &part{ranks: r, first: first, rows: n, inFile: first, held: first}
	if t.Disk == nil {
		cols := len(t.Names)
		t.part.held = 0
		t.Values = slices.Clone(t.Values[first*cols : (first+n)*cols])
		if t.Lines != nil {
			t.Lines = slices.Clone(t.Lines[first : first+n])
		}
	}
	return nil
}
