package pipe

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/memory"
)

// source is the name of a request's table in errors.
const source = "the data"

// table takes a table from a request's first buffers, and reads its cells by the given reading.
// It leaves the other buffers.
func (r *request) table(of dataset.Reading) (*dataset.Table, error) {
	h := r.Table
	if h == nil {
		return nil, fmt.Errorf("%w: %s needs a table", errFrame, r.Op)
	}
	cols := len(h.Names)
	if cols == 0 || len(h.Text) != cols || h.Rows < 0 || h.Rows > mostBuffer {
		return nil, fmt.Errorf("%w: its table has %d rows, %d names and %d types", errFrame, h.Rows,
			cols, len(h.Text))
	}
	next := func(size int) ([]byte, error) {
		if len(r.data) == 0 || (size >= 0 && len(r.data[0]) != size) {
			return nil, fmt.Errorf("%w: its buffers don't fit a table of %d rows", errFrame, h.Rows)
		}
		data := r.data[0]
		r.data = r.data[1:]
		return data, nil
	}
	t := of.New(source)
	t.Names = h.Names
	t.Rows = h.Rows
	for j := range cols {
		// A column of numbers is a buffer of float64s. A column of text is a buffer of h.Rows+1
		// offsets of 8 bytes, and then a buffer with all texts. All numbers are little endian.
		width := 8 * h.Rows
		if h.Text[j] {
			width += 8
		}
		data, err := next(width)
		if err != nil {
			return nil, err
		}
		if t.Values == nil {
			if err := memory.Afford("the request's table",
				8*float64(h.Rows)*float64(cols)); err != nil {
				return nil, err
			}
			// only now, since a column of h.Rows rows has arrived
			t.Values = make([]float64, h.Rows*cols)
		}
		if !h.Text[j] {
			for i := range h.Rows {
				t.Values[i*cols+j] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
			}
			continue
		}
		texts, err := next(-1)
		if err != nil {
			return nil, err
		}
		// Text i lies between the offsets i and i+1.
		at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(data[8*i:])) }
		for i := range h.Rows {
			from := at(i)
			to := at(i + 1)
			if from < 0 || to < from || to > int64(len(texts)) {
				return nil, fmt.Errorf("%w: text %d of column %q lies outside its buffer", errFrame,
					i+1, h.Names[j])
			}
			t.Set(i, j, string(texts[from:to]))
		}
	}
	return t, nil
}
