package files

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/spelling"
)

// How rows are written: one by one as numbers, as lines, as CSV, and beside columns of another
// table.

// Fill sets the values of one row, counted from 0, of a table that is being written.
// It is called once for each row, in order.
type Fill func(row int, values []float64) error

// Each calls write for row after row of a table with these columns.
// NaN stands for a missing value. An infinite number is an error.
func (fill Fill) Each(names []string, rows int, write func(values []float64) error) error {
	values := make([]float64, len(names))
	for i := range rows {
		if err := fill(i, values); err != nil {
			return err
		}
		for j, v := range values {
			if math.IsInf(v, 0) {
				return &dataset.Error{Row: i + 1, Column: j + 1, Name: names[j],
					Err: fmt.Errorf("%g is not finite", v)}
			}
		}
		if err := write(values); err != nil {
			return err
		}
	}
	return nil
}

// Lines writes each row of a table as a line of text:
// its numbers in the fewest digits that read back as the same float64, separated by between.
// A missing value is empty, but NaN between spaces. It writes no header.
func (fill Fill) Lines(w io.Writer, names []string, rows int, between byte) error {
	return writeRows(w, names, rows, fill, func(line []byte, values []float64) []byte {
		for j, v := range values {
			if j > 0 {
				line = append(line, between)
			}
			if v == v || between == ' ' {
				line = strconv.AppendFloat(line, v, 'g', -1, 64)
			}
		}
		return append(line, '\n')
	})
}

// writeRows writes the encoded bytes of each row.
func writeRows(w io.Writer, names []string, rows int, fill Fill,
	encode func(to []byte, values []float64) []byte) error {
	out := bufio.NewWriterSize(w, bufferSize)
	if err := fill.Each(names, rows, func(values []float64) error {
		_, err := out.Write(encode(out.AvailableBuffer(), values))
		return err
	}); err != nil {
		return err
	}
	return out.Flush()
}

// bufferSize is the number of bytes written at a time.
const bufferSize = 1 << 16

// Beside returns a function that writes a table as [Write] does, with the kept columns first.
func Beside(kept *dataset.Kept) func(w io.Writer, names []string, rows int, fill Fill) error {
	return func(w io.Writer, names []string, rows int, fill Fill) error {
		// Two columns of one name would be ambiguous to whoever reads the table.
		for _, name := range kept.Names {
			if slices.Contains(names, name) {
				return fmt.Errorf("column %q can't be kept: the table that is written has one of "+
					"that name", spelling.Clip(name))
			}
		}
		out := csv.NewWriter(w)
		if err := out.Write(slices.Concat(kept.Names, names)); err != nil {
			return err
		}
		row := 0
		if err := fill.Each(names, rows, func(values []float64) error {
			cells, err := kept.Cells(row)
			if err != nil {
				return err
			}
			row++
			for _, v := range values {
				if cells = append(cells, ""); v == v {
					cells[len(cells)-1] = strconv.FormatFloat(v+0, 'g', -1, 64)
				}
			}
			return out.Write(cells)
		}); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
}

// Write writes a table as CSV with a header, with each number in the fewest digits that read back
// as the same float64.
func Write(w io.Writer, names []string, rows int, fill Fill) error {
	header := csv.NewWriter(w)
	if err := header.Write(names); err != nil {
		return err
	}
	header.Flush()
	if err := header.Error(); err != nil {
		return err
	}
	return fill.Lines(w, names, rows, ',')
}
