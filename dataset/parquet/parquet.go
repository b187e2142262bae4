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
	"math/big"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/disk"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/internal/spelling"
	"github.com/krigo-gp/krigo/memory"
)

func init() {
	files.Register(files.Format{Name: "Parquet", Endings: []string{".parquet"}, Magic: magic,
		Read: read, Write: Write, Parts: true})
}

// read adds the rows of an open Parquet file to a table.
// A column that can't be read, or holds neither numbers nor text, is refused where it is used.
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
	columns := lists.Of(file.Root().Columns(), columnOf)
	if err := name(t, columns); err != nil {
		return err
	}
	if err := promised(file.File, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	const growth = 2 // while memory is moved, old and new exist together
	cells := int64(len(t.Names)) * (int64(t.Rows) + file.NumRows())
	if err := memory.Afford(source, growth*8*float64(cells)); err != nil {
		return err
	}
	// few files have less than a byte per value
	t.Values = slices.Grow(t.Values, int(min(file.NumRows()*int64(len(t.Names)), info.Size())))
	for g, group := range file.RowGroups() {
		first := t.Rows
		n := int(group.NumRows())
		for _, c := range columns {
			if (c.number == nil && c.text == nil) || t.Refused(c.at) != nil {
				c.skip(t, first+n)
				continue
			}
			pages, err := file.pagesOf(g, c.leaf, n, c.optional,
				fmt.Sprintf("%s: column %d (%.40q)", source, c.at+1, c.name))
			if err == nil {
				chunk := group.ColumnChunks()[c.leaf].(*parquet.FileColumnChunk)
				err = c.read(t, chunk.PagesFrom(pages), first, n)
			}
			if errors.As(err, &large) {
				return large
			}
			if err != nil {
				t.Refuse(c.at, &dataset.Error{File: source, Column: c.at + 1, Name: c.name,
					Err: fmt.Errorf("column %d (%.40q) is damaged (%w): write it again", c.at+1,
						c.name, err)})
				c.skip(t, first+n)
			}
		}
		t.Rows = first + n
	}
	for _, c := range columns {
		if t.Refused(c.at) == nil {
			return nil
		}
	}
	return t.Refused(0) // no column is left to be used
}

// name names the columns of a table as its file does. If an earlier part of the table has named
// them, it finds where the columns of this part stand in the table.
func name(t *dataset.Table, columns []column) error {
	if t.Names == nil {
		t.Names = lists.Of(columns, func(c column) string { return c.name })
	}
	if len(t.Names) == 0 {
		return fmt.Errorf("%s: the table has no columns", t.Source)
	}
	differ := len(columns) != len(t.Names)
	for j := range columns {
		c := &columns[j]
		if c.at = j; c.name != t.Names[min(j, len(t.Names)-1)] {
			c.at, _ = t.Column(c.name)
		}
		if differ = differ || c.at < 0; !differ && c.err != nil {
			t.Refuse(c.at, &dataset.Error{File: t.Source, Column: c.at + 1, Name: c.name,
				Err: fmt.Errorf("column %d (%.40q) %w", c.at+1, c.name, c.err)})
		}
	}
	if differ {
		return fmt.Errorf("%s: a part has the columns %s, and an earlier part has %s: write all "+
			"parts with the same columns", t.Source, spelling.Quoted(lists.Of(columns,
			func(c column) string { return c.name }), 20), spelling.Quoted(t.Names, 20))
	}
	return nil
}

// column says how the values of a column become cells.
type column struct {
	name     string
	at, leaf int // its place in the table, and among the columns of values in the file
	optional bool
	err      error // why its cells can't be read
	// what a value stands for. If both are nil, all cells are missing.
	number func(parquet.Value) float64
	text   func(parquet.Value) string
}

// columnOf says how a column is read. A column that holds neither numbers nor text isn't.
func columnOf(c *parquet.Column) column {
	of := column{name: c.Name(), leaf: c.Index(), optional: c.Optional()}
	if c.Leaf() && !c.Repeated() {
		of.number, of.text = meaning(c.Type())
	}
	if _, empty := logical(c.Type()).(*format.NullType); of.number == nil && of.text == nil &&
		!empty {
		of.err = fmt.Errorf("holds %v, neither numbers nor text: cast it, or leave it out",
			c.Type())
	}
	return of
}

// logical returns the logical type of a type, or nil if it has only a physical type.
func logical(of parquet.Type) format.LogicalTypeValue {
	if kind := of.LogicalType(); kind != nil {
		return kind.Value
	}
	return nil
}

// meaning returns how to read values of a type: as numbers, or as text. Both are nil for other
// types. Types that don't fit each other, as in a damaged file, would make the decoder panic.
func meaning(of parquet.Type) (number func(parquet.Value) float64,
	text func(parquet.Value) string) {
	physical := of.Kind()
	whole := physical == parquet.Int32 || physical == parquet.Int64
	switch kind := logical(of).(type) {
	case nil:
		switch physical {
		case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double:
			return numberOf, nil
		case parquet.Int96:
			return nil, stamp
		}
	case *format.IntType:
		if whole && !kind.IsSigned {
			return unsigned, nil
		}
		if whole {
			return numberOf, nil
		}
	case *format.DecimalType:
		if whole || physical == parquet.ByteArray || physical == parquet.FixedLenByteArray {
			return decimals(kind.Scale), nil
		}
	case *format.StringType, *format.EnumType, *format.JsonType:
		if physical == parquet.ByteArray {
			return nil, func(v parquet.Value) string { return string(v.ByteArray()) }
		}
	case *format.UUIDType:
		return nil, func(v parquet.Value) string {
			b := v.ByteArray()
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	case *format.DateType:
		return nil, dates(24*time.Hour, "2006-01-02")
	case *format.TimestampType:
		return nil, dates(kind.Unit.Value.Duration(), "2006-01-02T15:04:05.999999999")
	case *format.TimeType:
		return nil, dates(kind.Unit.Value.Duration(), "15:04:05.999999999")
	}
	return nil, nil
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

// grow makes room for the cells of the first `rows` rows.
func grow(t *dataset.Table, rows int) {
	if more := rows*len(t.Names) - len(t.Values); more > 0 {
		t.Values = append(t.Values, make([]float64, more)...)
	}
}

// skip makes the cells of a column missing, from the first row that isn't complete to row n−1.
func (c column) skip(t *dataset.Table, n int) {
	grow(t, n)
	for row := t.Rows; row < n; row++ {
		t.Values[row*len(t.Names)+c.at] = math.NaN()
	}
}

// read reads the cells of a column in the rows first to first+n−1.
// The table grows with what is read, not with what n promises.
func (c column) read(t *dataset.Table, pages parquet.Pages, first, n int) error {
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
			grow(t, row+k)
			for _, v := range values[:k] {
				switch at := &t.Values[row*len(t.Names)+c.at]; {
				case v.IsNull():
					*at = math.NaN()
				case c.text != nil:
					t.Set(row, c.at, c.text(v))
				case t.Texts(c.at) != nil: // another part of the table has texts in the column
					t.Set(row, c.at, strconv.FormatFloat(c.number(v), 'g', -1, 64))
				default:
					*at = c.number(v)
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

// dates returns a function that writes whole numbers of a unit as dates or times of day.
// Dates are text in a table, and the reading says that they are dates.
func dates(unit time.Duration, layout string) func(parquet.Value) string {
	perDay := int64(24 * time.Hour / unit)
	return func(v parquet.Value) string {
		at := v.Int64()
		if v.Kind() == parquet.Int32 {
			at = int64(v.Int32())
		}
		day := at / perDay
		if at%perDay < 0 {
			day--
		}
		return time.Unix(day*86400, int64(time.Duration(at-day*perDay)*unit)).UTC().Format(layout)
	}
}

// stamp writes an INT96, in which Spark and Impala keep a time: the nanoseconds of a day in its
// first eight bytes, and then the Julian day, which is 2,440,588 on 1970-01-01.
func stamp(v parquet.Value) string {
	of := v.Int96()
	nanoseconds := int64(of[1])<<32 | int64(of[0])
	return time.Unix((int64(of[2])-2440588)*86400, nanoseconds).UTC().Format(
		"2006-01-02T15:04:05.999999999")
}

// decimals returns a function that reads whole numbers as multiples of 10^−scale. As bytes, they
// are big endian, and the first bit is the sign.
func decimals(scale int32) func(parquet.Value) float64 {
	power := "e" + strconv.Itoa(-int(scale))
	return func(v parquet.Value) float64 {
		var whole big.Int
		switch v.Kind() {
		case parquet.Int32:
			whole.SetInt64(int64(v.Int32()))
		case parquet.Int64:
			whole.SetInt64(v.Int64())
		default:
			of := v.ByteArray()
			if whole.SetBytes(of); len(of) > 0 && of[0] >= 0x80 {
				whole.Sub(&whole, new(big.Int).Lsh(big.NewInt(1), uint(8*len(of))))
			}
		}
		number, _ := strconv.ParseFloat(whole.String()+power, 64) // rounds once
		return number
	}
}

// unsigned returns a whole number whose bits have no sign.
func unsigned(v parquet.Value) float64 {
	if v.Kind() == parquet.Int32 {
		return float64(v.Uint32())
	}
	return float64(v.Uint64())
}

// numberOf returns a value as a float64: booleans as 0 and 1, and whole numbers rounded from 2^53
// on.
func numberOf(v parquet.Value) float64 {
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1
		}
		return 0
	case parquet.Int32:
		return float64(v.Int32())
	case parquet.Int64:
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
	// at holds the place of each column in the file.
	at := lists.Of(names, func(name string) int {
		leaf, _ := schema.Lookup(name)
		return leaf.ColumnIndex
	})
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
