package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/ranks"
)

// A table: its rows, wherever they are, its columns by name, the columns that become inputs, and
// its ranks.

// Table is a rectangle of cells with named columns.
// Its rows are in memory, or in an NPY file from which they are read when they are needed.
// A table that is made from its fields is checked when it is viewed as [Data].
// [FromRows] and [FromMatrix] check at once.
//
// Several goroutines may read a table at once, unless a goroutine calls Append, Set or Close.
type Table struct {
	Source string    // name of the file, as the caller gave it
	Names  []string  // column names, distinct
	Rows   int       // number of rows, of all ranks together
	Values []float64 // Rows×len(Names), row-major, NaN for a missing cell; nil for a table on disk
	Lines  []int     // line of the file on which each row starts, from 1; nil for a table on disk

	// Text lists the texts of each column of text, whose Values are places in the list.
	// It is nil for a column of numbers. Text itself is nil if all columns hold numbers.
	Text [][]string

	Disk  Store  // holds the rows if Values doesn't hold them
	Sheet string // sheet of a workbook, in which Lines counts rows; "" for other files
	Found Found  // what people are told about the reading

	codes   []map[string]float64 // by column, the place of each text in Text
	reading Reading              // how cells are written
	written *Reading             // how cells are written, if ReadAs set another reading
	serials map[int]*Error       // the error for the first number in a column of dates, by column
	odd     map[oddText]bool     // texts that would be numbers without the reading's settings
	part    *part                // the rows that this rank has; nil: all rows
	// place of each of this rank's rows in the file, from 0; nil: no rows were left out
	numbers []int
	// the table with the rows that were left out because they lack a target; may be nil
	from *Table
	// the column of sides that Limited added, see [Data.Sides]; nil: targets are measured
	limits []int
	ctx    context.Context // ends the reading of rows; may be nil

	heavy float64 // bytes of all texts
	// why reading failed: the table takes too much memory, or two cells would become one name
	over  error
	named map[oddText]string // how numbers in columns that name things were first written
	// why the cells of a column can't be read, by the column's name. They count as missing.
	refused map[string]error
	// texts of columns of numbers or dates that were made missing, by their place
	unread map[place]string
	// the error for the first of them, by column of dates, until legible lets them be missing
	undated map[int]error
}

// place is that of a cell.
type place struct{ row, column int }

// oddText is a text in a column that would be a number if cells were written otherwise.
type oddText struct {
	column int
	text   string
}

// Found holds what people are told about how a table was read (package inspect).
type Found struct {
	Headless  bool     // the file named no columns
	Centuries []string // columns of dates with years of two digits
	Zones     []string // columns in which only some times name their zone
	// by column, how many numbers have each unit, "" for no unit; nil: no unit was named
	Units   []map[string]int
	Dropped int // rows that were left out because they repeat another row
	Skipped int // lines above the table
	Remarks int // lines that begin with #, as those above the table, and were left out
	// rows that were left out because they have no target;
	// counted when the table is viewed as [Data]
	Untargeted int
	// by column, cells such as "<0.1" that were read as half of their limit
	Below  map[int]Written
	Above  map[int]Written // by column, cells such as ">2000" that were read as their limit
	Padded map[int]Written // by column, whole numbers that begin with 0, such as 01234
}

// Written says how cells of a column are written.
type Written struct {
	Cells int    // number of cells
	First string // where the first cell stands
	Width int    // number of characters in each cell; 0: cells differ in length
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
	first  int // number of the rank's first row among the rows of all ranks
	rows   int
	inFile int // number of the rank's first row in its file
	held   int // index of the rank's first row in Values, or on Disk
}

// Close closes the file of a table on disk, which can't be read afterwards.
// For a table in memory it does nothing.
func (t *Table) Close() error {
	if t.Disk == nil {
		return nil
	}
	return t.Disk.Close()
}

// Column returns the index of the named column, and whether there is such a column.
func (t *Table) Column(name string) (int, bool) {
	j := slices.Index(t.Names, name)
	return j, j >= 0
}

// Refuse says that cells of column j can't be read, and why. They count as missing. Whatever uses
// the column returns the first such error, which names the place.
func (t *Table) Refuse(j int, err error) {
	if t.refused == nil {
		t.refused = map[string]error{}
	}
	if j < len(t.Names) && t.refused[t.Names[j]] == nil {
		t.refused[t.Names[j]] = err
	}
}

// Refused returns why the cells of column j can't be read, or nil.
func (t *Table) Refused(j int) error { return t.refused[t.Names[j]] }

// Where says where a row, counted from 0, stands in the file: its line, or its number from 1.
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

// place returns an [Error] that says where a row, counted from 0, stands in the file.
// Its Err isn't set.
func (t *Table) place(row int) *Error {
	inFile, held := t.where(row)
	if t.Lines == nil || t.Lines[held] == 0 {
		return &Error{File: t.Source, Row: inFile + 1}
	}
	return &Error{File: t.Source, Sheet: t.Sheet, Line: t.Lines[held]}
}

// cell returns err as the error of the cell in this row and column j.
func (t *Table) cell(row, j int, err error) *Error {
	at := t.place(row)
	if at.Line > 0 {
		at.Row = row + 1
	}
	at.Column = j + 1
	at.Name = t.Names[j]
	at.Err = err
	return at
}

// CellError returns err as the error of the cell in this row, counted from 0, and column j.
func (t *Table) CellError(row, j int, err error) error { return t.cell(row, j, err) }

// blockRows and blockCells limit the rows that are read at a time, when all rows are read.
// Blocks stay in the cache, and their sums are added row by row, whatever the size.
const (
	blockRows  = 4096
	blockCells = 1 << 16
)

// Read copies the given columns of rows first, …, first+n−1 to out, row by row.
// This rank must have these rows.
func (t *Table) Read(first, n int, columns []int, out []float64) error {
	if p := t.part; p != nil && (first < p.first || first+n > p.first+p.rows) {
		return fmt.Errorf("%s: rows %d to %d are on another rank", t.Source, first+1, first+n)
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

// held returns the cells of column j in memory, by their index among the rows in memory.
func (t *Table) held(j int) iter.Seq2[int, *float64] {
	return func(yield func(i int, cell *float64) bool) {
		for at := j; at < len(t.Values); at += len(t.Names) {
			if !yield(at/len(t.Names), &t.Values[at]) {
				return
			}
		}
	}
}

// Each calls row for each row that this rank has, with the row's cells in the given columns.
func (t *Table) Each(columns []int, row func(i int, cells []float64) error) error {
	begin, own := t.Own()
	x := make([]float64, min(own, blockRows)*len(columns))
	for first, end := range lists.Blocks(own, blockRows) {
		n := end - first
		if err := t.Read(begin+first, n, columns, x[:n*len(columns)]); err != nil {
			return err
		}
		for i := range n {
			if err := row(begin+first+i, x[i*len(columns):(i+1)*len(columns)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Within returns the same table for work that ends with a context.
// Once ctx ends, reading rows returns the context's error.
// Predicting, certifying and evaluating read rows block by block, so they end soon.
// Close only one of the two tables.
func (t *Table) Within(ctx context.Context) *Table {
	within := *t
	within.ctx = ctx
	return &within
}

// Ranks returns the processes over which the rows are spread.
func (t *Table) Ranks() ranks.Ranks {
	if t.part == nil || t.part.ranks == nil {
		return ranks.Alone{}
	}
	return t.part.ranks
}

// Own returns the number of the first row that this rank has, and how many rows it has.
func (t *Table) Own() (first, n int) {
	if t.part == nil {
		return 0, t.Rows
	}
	return t.part.first, t.part.rows
}

// where returns a row's number in its file, and its index in Values or on Disk.
func (t *Table) where(row int) (inFile, held int) {
	inFile = row
	held = row
	if p := t.part; p != nil {
		row -= p.first
		inFile = row + p.inFile
		held = row + p.held
	}
	if t.numbers != nil {
		inFile = t.numbers[row]
	}
	return inFile, held
}

// inputs returns the indices of the named columns:
// if the file has no header and just as many columns, all in order.
func (t *Table) inputs(names []string) ([]int, error) {
	if t.Found.Headless && len(t.Names) == len(names) {
		return linalg.UpTo(len(names)), nil
	}
	return t.columns(names)
}

// columns returns the indices of the named columns.
func (t *Table) columns(names []string) ([]int, error) {
	columns := make([]int, len(names))
	at := make(map[string]int, len(t.Names)) // a map, because there may be very many names
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

// column returns the index of the named column.
// If there is no such column, the error says what it was needed for.
func (t *Table) column(name, something string) (int, error) {
	at, ok := t.Column(name)
	if ok {
		return at, nil
	}
	return 0, fmt.Errorf("%s: no column %s %s%s; %s", t.Source, spelling.Quote(name), something,
		spelling.DidYouMean(name, t.Names), t.describeColumns())
}

// Dated returns an error if a column of the reading's Dates isn't in the table.
// Only a fit needs all these columns. A table to be predicted may lack columns that aren't inputs.
func (t *Table) Dated() error {
	for _, d := range t.reading.Dates {
		if _, err := t.column(d.Column, "to be named by --dates"); err != nil {
			return err
		}
	}
	return nil
}

// but returns the names of all columns except the given names.
func (t *Table) but(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(t.Names), func(name string) bool {
		return slices.Contains(names, name)
	})
}

// describeColumns lists the table's columns, for errors about a column that isn't there.
func (t *Table) describeColumns() string {
	s := "the columns are " + spelling.Quoted(t.Names, 20)
	if t.Found.Headless && t.reading.Header == "" {
		s += " (the file has no header line, so they were numbered and the last named y; add a " +
			"header)"
	}
	return s
}

// Names of the column that holds a DataFrame's index. It is an input only if it is asked for.
const (
	IndexName   = "(index)"           // krigo's name for a first column without a name
	pandasIndex = "__index_level_0__" // pandas' name for an index in Parquet files
)

// IsIndex says whether a column of this name is a DataFrame's index.
func IsIndex(name string) bool { return name == IndexName || name == pandasIndex }

// Leave returns the columns, apart from the target, that aren't inputs.
// These are the columns that match a pattern of ignored, and, if inputs has patterns, the columns
// that match no pattern of inputs. The columns in own, for example the column that groups rows, are
// never inputs, and a DataFrame's index only if inputs matches it.
// A pattern is a name, or has * for any text and ? for a character.
// It is an error if a pattern matches no column.
func (t *Table) Leave(inputs, ignored []string, target string,
	own ...string) (left []string, err error) {
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
			return nil, fmt.Errorf("%s: the target %q is also to be ignored: remove it from "+
				"--ignore, or name another target", t.Source, spelling.Clip(target))
		}
	}
	left = slices.DeleteFunc(Left(t.Names, inputs, ignored, append(own, target)...),
		func(name string) bool { return name == target })
	for _, pattern := range inputs {
		if pattern == target {
			return nil, fmt.Errorf("%s: the target %q can't be an input too", t.Source,
				spelling.Clip(target))
		}
	}
	if len(inputs) > 0 && len(left)+1 >= len(t.Names) {
		return nil, errors.New(t.Source + ": no inputs are left: name others with --inputs, or " +
			"ignore fewer")
	}
	return left, nil
}

// Left returns which of the named columns aren't inputs, by the same patterns as [Table.Leave].
// A pattern may match no column. The columns in own, for example the target and the column that
// groups rows, are never inputs.
func Left(names, inputs, ignored []string, own ...string) (left []string) {
	named := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			return matches(pattern, name)
		})
	}
	for _, name := range names {
		switch {
		case slices.Contains(own, name), named(ignored, name), len(inputs) > 0 &&
			!named(inputs, name), len(inputs) == 0 && IsIndex(name):
			left = append(left, name)
		}
	}
	return left
}

// matches says whether a name matches a pattern.
// A name always matches itself, even if it has * or ?.
func matches(pattern, name string) bool {
	if pattern == name {
		return true
	}
	p := []rune(pattern)
	n := []rune(name)
	star := -1
	// the place of the pattern's last *, and the end of the text in the name that this * stands for
	from := 0
	i := 0
	k := 0
	for k < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star = i
			from = k
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[k]):
			i++
			k++
		case star >= 0:
			from++
			i = star + 1
			k = from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// Spread makes a table that is spread over ranks of the tables that the ranks have read.
// If whole is true, each rank has read all rows, and keeps an equal share of them, in order.
// Otherwise the ranks' rows follow one another, in the order of ranks.
// After an error the table is closed.
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

// join numbers this rank's rows among the rows of all ranks.
// All ranks must have the columns of the first rank.
func (t *Table) join(r ranks.Ranks) error {
	names, err := ranks.Bytes(r, 0, []byte(strings.Join(t.Names, "\n")))
	if err != nil {
		return err
	}
	if string(names) != strings.Join(t.Names, "\n") {
		err = fmt.Errorf("%s: %s, not those of the first rank's file", t.Source,
			t.describeColumns())
	}
	if err = r.Agree(err); err != nil {
		return err
	}
	t.part.first, t.Rows, err = ranks.Place(r, t.part.rows)
	return err
}

// keepPart records which rows this rank has. If whole is true, it keeps only this rank's share.
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
		t.part.held = 0
		t.Values = slices.Clone(t.Values[first*len(t.Names) : (first+n)*len(t.Names)])
		if t.Lines != nil {
			t.Lines = slices.Clone(t.Lines[first : first+n])
		}
	}
	return nil
}
