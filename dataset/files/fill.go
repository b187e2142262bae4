package files

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/krigo-gp/krigo/dataset"
)

// Fill sets the values of one row, counted from 0, of a table that is being written. Rows
// are asked for once each, in order.
type Fill func(row int, values []float64) error

// Each passes on row after row of a table of named columns. A number that is not finite is an error.
func (fill Fill) Each(names []string, rows int, write func(values []float64) error) error {
	values := make([]float64, len(names))
	for i := range rows {
		if err := fill(i, values); err != nil {
			return err
		}
		for j, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &dataset.Error{Row: i + 1, Column: j + 1, Name: names[j], Err: fmt.Errorf("%g is not finite", v)}
			}
		}
		if err := write(values); err != nil {
			return err
		}
	}
	return nil
}

// Lines writes each row of a table of named columns as a line of text: its numbers in the fewest digits that read back
// as the same float64, with a character between them. The header is up to the caller.
func (fill Fill) Lines(w io.Writer, names []string, rows int, between byte) error {
	return writeRows(w, names, rows, fill, func(line []byte, values []float64) []byte {
		for j, v := range values {
			if j > 0 {
				line = append(line, between)
			}
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		return append(line, '\n')
	})
}

// writeRows writes the bytes that stand for each row.
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

// bufferSize is how much is written at a time.
const bufferSize = 1 << 16
