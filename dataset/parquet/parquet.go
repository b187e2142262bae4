// Package parquet reads and writes tables as Parquet files.
//
// This program writes a Parquet file and reads it again:
//
//	package main
//
//	import (
//		"fmt"
//		"log"
//
//		"github.com/krigo-gp/krigo/dataset"
//		"github.com/krigo-gp/krigo/dataset/files"
//		_ "github.com/krigo-gp/krigo/dataset/parquet" // files now knows the ending .parquet
//	)
//
//	func main() {
//		err := files.WriteFile("squares.parquet", []string{"x", "y"}, 100, func(row int, values []float64) error {
//			values[0], values[1] = float64(row), float64(row*row)
//			return nil
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		table, err := files.ReadFile("squares.parquet", dataset.Reading{})
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(table.Rows, table.Names)
//		// Output:
//		// 100 [x y]
//	}
//
// Package parquet stands apart from package dataset because a reader of Parquet needs about eighty
// other packages.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/memory"
)

func init() {
	files.Register(files.Format{Name: "Parquet", Endings: []string{".parquet"}, Magic: magic,
		Read: read, Write: Write})
}

// read reads a table from an open Parquet file.
// Its columns must be flat and hold numbers, booleans or text.
func read(f *os.File, t *dataset.Table) (err error) {
	source := t.Source
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("%s: cannot be read: %w", source, err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		// A damaged file may lead the decoder out of its bounds. This is an error of the data.
		if cause := recover(); cause != nil {
			if _, bounds := cause.(runtime.Error); bounds {
				cause = "its pages say what can't be"
			}
			err = fmt.Errorf("%s: damaged (%v): write it again", source, cause)
		}
	}()
	file, err := open(disk.Of(f), info.Size(), source)
	var large *memory.Error
	if errors.As(err, &large) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: not a whole Parquet file (%w): write it again", source, err)
	}
	var columns []column
	for j, c := range file.Root().Columns() {
		of, err := columnOf(c)
		if err != nil {
			return &dataset.Error{File: source, Column: j + 1, Name: c.Name(),
				Err: fmt.Errorf("column %d (%.40q) %w", j+1, c.Name(), err)}
		}
		t.Names = append(t.Names, c.Name())
		columns = append(columns, of)
	}
	if len(t.Names) == 0 {
		return fmt.Errorf("%s: the table has no columns", source)
	}
	if err := promised(file.File, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	const growth = 2 // while memory is moved, old and new exist together
	if err := memory.Afford(source,
		growth*8*float64(file.NumRows())*float64(len(t.Names))); err != nil {
		return err
	}
	// few files have less than a byte per value
	t.Values = make([]float64, 0, min(file.NumRows()*int64(len(t.Names)), info.Size()))
	for g, group := range file.RowGroups() {
		first := t.Rows
		for j, chunk := range group.ColumnChunks() {
			pages, err := file.pagesOf(g, j, int(group.NumRows()), columns[j].optional,
				fmt.Sprintf("%s: column %d (%.40q)", source, j+1, t.Names[j]))
			if err == nil {
				err = columns[j].read(t, chunk.(*parquet.FileColumnChunk).PagesFrom(pages), first,
					int(group.NumRows()), j)
			}
			if errors.As(err, &large) {
				return large
			}
			if err != nil {
				return &dataset.Error{File: source, Column: j + 1, Name: t.Names[j],
					Err: fmt.Errorf("column %d (%.40q) is damaged (%w): write it again", j+1,
						t.Names[j], err)}
			}
		}
		t.Rows = first + int(group.NumRows())
	}
	return nil
}

// column says how the values of a column become cells.
type column struct {
	unsigned, optional bool
	date               func(int64) string // writes the date that a whole number stands for
}

// columnOf refuses a column that holds neither numbers nor text.
func columnOf(c *parquet.Column) (of column, err error) {
	err = fmt.Errorf("holds %v, neither numbers nor text: cast it, or leave it out", c.Type())
	if !c.Leaf() || c.Repeated() {
		return of, err
	}
	of.optional = c.Optional()
	kind := c.Type().Kind()
	logical := c.Type().LogicalType()
	switch kind {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double,
		parquet.ByteArray:
	default:
		return of, err
	}
	if logical == nil || logical.Value == nil {
		if kind == parquet.ByteArray { // arbitrary bytes
			return of, err
		}
		return of, nil
	}
	switch kind := logical.Value.(type) {
	case *format.IntType:
		of.unsigned = !kind.IsSigned
	case *format.StringType, *format.EnumType:
	case *format.DateType, *format.TimestampType: // other types of a damaged file would panic
		of.date = dates(kind)
	default:
		return of, err
	}
	return of, nil
}

// promised checks what the footer of a file of size bytes says about its rows, before they are
// read.
func promised(file *parquet.File, size int64) error {
	rows := file.NumRows()
	left := rows // rows that no earlier group has
	for _, group := range file.RowGroups() {
		n := group.NumRows()
		if n > left {
			return fmt.Errorf("damaged: its footer promises %d rows, its row groups hold more: "+
				"write it again", rows)
		}
		left -= n
	}
	// A run of equal values takes a few bytes, however long it is.
	// But no real data consist only of such runs.
	const always, perByte = 1 << 20, 1 << 13
	return faults.First(
		faults.If(left != 0,
			"damaged: its footer promises %d rows, its row groups hold %d: write it again",
			rows, rows-left),
		faults.If(rows == 0, "the table has no rows"),
		faults.If(rows > always && rows/perByte > size,
			"%d rows in %d bytes: no data pack so tightly; write it again", rows, size),
	)
}

// atOnce is the number of values read at a time.
const atOnce = 4096

// read reads column j of the rows first to first+n−1.
// The table grows with what is read, not with what n promises.
func (c column) read(t *dataset.Table, pages parquet.Pages, first, n, j int) error {
	defer pages.Close()
	values := make([]parquet.Value, atOnce)
	for row := first; ; {
		page, err := pages.ReadPage()
		if err == io.EOF && row == first+n {
			return nil
		}
		if err == io.EOF {
			err = fmt.Errorf("%d values for the %d rows from row %d on", row-first, n, first+1)
		}
		if err != nil {
			return err
		}
		for reader := page.Values(); ; {
			k, err := reader.ReadValues(values)
			// A file may promise fewer values in its footer than its pages hold.
			if row+k > first+n {
				return fmt.Errorf("more than %d values for the %d rows from row %d on",
					n, n, first+1)
			}
			if more := (row+k)*len(t.Names) - len(t.Values); more > 0 {
				t.Values = append(t.Values, make([]float64, more)...)
			}
			for _, v := range values[:k] {
				switch at := &t.Values[row*len(t.Names)+j]; {
				case v.IsNull():
					*at = math.NaN()
				// Dates become text in a form that the reading knows.
				case c.date != nil && v.Kind() == parquet.Int32:
					t.Set(row, j, c.date(int64(v.Int32())))
				case c.date != nil:
					t.Set(row, j, c.date(v.Int64()))
				case v.Kind() == parquet.ByteArray:
					t.Set(row, j, string(v.ByteArray()))
				default:
					*at = numberOf(v, c.unsigned)
				}
				row++
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}

// dates returns a function that writes whole numbers of a type as dates.
// Dates are text in a table, and the reading says that they are dates.
func dates(of any) func(int64) string {
	unit := 24 * time.Hour
	if stamp, isStamp := of.(*format.TimestampType); isStamp {
		unit = stamp.Unit.Value.Duration()
	}
	perDay := int64(24 * time.Hour / unit)
	return func(v int64) string {
		day := v / perDay
		if v%perDay < 0 {
			day--
		}
		at := time.Unix(day*86400, int64(time.Duration(v-day*perDay)*unit)).UTC()
		if perDay == 1 {
			return at.Format("2006-01-02")
		}
		return at.Format("2006-01-02T15:04:05.999999999")
	}
}

// numberOf returns a value as a float64: booleans as 0 and 1, and whole numbers rounded from 2^53
// on. unsigned says that the bits of a whole number have no sign.
func numberOf(v parquet.Value, unsigned bool) float64 {
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	case parquet.Int32:
		if unsigned {
			return float64(v.Uint32())
		}
		return float64(v.Int32())
	case parquet.Int64:
		if unsigned {
			return float64(v.Uint64())
		}
		return float64(v.Int64())
	case parquet.Float:
		return float64(v.Float())
	}
	return v.Double()
}

// Write writes a table as Parquet, with columns of doubles in alphabetical order.
func Write(w io.Writer, names []string, rows int, fill files.Fill) error {
	group := parquet.Group{}
	for j, name := range names {
		if group[name] != nil || name == "" {
			return fmt.Errorf("write Parquet: column %d is named %q: names must be distinct text",
				j+1, name)
		}
		group[name] = parquet.Compressed(parquet.Leaf(parquet.DoubleType), &parquet.Snappy)
	}
	schema := parquet.NewSchema("table", group)
	at := make([]int, len(names)) // the place of each column in the file
	for j, name := range names {
		leaf, _ := schema.Lookup(name)
		at[j] = leaf.ColumnIndex
	}
	out := parquet.NewWriter(w, schema)
	row := make(parquet.Row, len(names))
	if err := fill.Each(names, rows, func(values []float64) error {
		for j, v := range values {
			row[at[j]] = parquet.DoubleValue(v).Level(0, 0, at[j])
		}
		_, err := out.WriteRows([]parquet.Row{row})
		return err
	}); err != nil {
		return err
	}
	return out.Close()
}
