package dataset

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/ranks"
)

// Hash identifies the given rows, those of all ranks together, by the cells of the table, before any encoding: the
// SHA-256, in hex, of len(rows) and the number of input columns as little-endian uint64 and
// then, in increasing row order whatever the order of rows, each row's bytes: its inputs and
// target as little-endian IEEE-754 bits, but of a categorical column the text's length in
// bytes as uint64 and the text, and of a missing value of that none; where rows are grouped the
// group's text ends the row. It is part of the model-file format up to version 4.
func (d *Data) Hash(rows []int) (string, error) {
	if !slices.IsSorted(rows) {
		rows = slices.Sorted(slices.Values(rows))
	}
	r := d.Ranks()
	_, total, err := ranks.Place(r, len(rows))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	counts := binary.LittleEndian.AppendUint64(nil, uint64(total))
	h.Write(binary.LittleEndian.AppendUint64(counts, uint64(len(d.inputs))))
	err = ranks.InTurn(r, func() error {
		return d.eachRow(rows, func(row, _ []byte) { h.Write(row) })
	}, h.(encoding.BinaryMarshaler).MarshalBinary, h.(encoding.BinaryUnmarshaler).UnmarshalBinary)
	return hex.EncodeToString(h.Sum(nil)), err
}

// RowHashes returns the 64-bit FNV-1a hash of each given row's bytes, as in [Data.Hash] but for the group:
// a copy is one under another group's name too. groups are the hashes of the rows' groups, of their names; nil where
// rows stand for themselves. Both are part of the model-file format.
func (d *Data) RowHashes(rows []int) (hashes, groups []uint64, err error) {
	sum := func(b []byte) uint64 {
		h := fnv.New64a()
		h.Write(b)
		return h.Sum64()
	}
	err = d.eachRow(rows, func(row, group []byte) {
		hashes = append(hashes, sum(row[:len(row)-len(group)]))
		if d.group != nil {
			groups = append(groups, sum(group))
		}
	})
	return hashes, groups, err
}

// eachRow passes on the bytes of each given row, and those of the cell by which rows are grouped
// with which the row's end.
func (d *Data) eachRow(rows []int, row func(row, group []byte)) error {
	cells := *d
	cells.encoders, cells.inputs = nil, slices.Concat(d.inputs, d.group)
	cells.Cols = len(cells.inputs)
	le := binary.LittleEndian
	text := func(b []byte, column int, v float64) []byte {
		text := d.table.text(column, v)
		return append(le.AppendUint64(b, uint64(len(text))), text...)
	}
	var b []byte
	return cells.each(rows, func(_ int, x, y []float64) {
		for i := range y {
			of := x[i*cells.Cols : (i+1)*cells.Cols]
			b = b[:0]
			for k, v := range of[:len(d.inputs)] {
				switch {
				case d.encoders != nil && d.encoders[k].places != nil:
					b = text(b, d.inputs[k], v)
				case v != v:
					b = le.AppendUint64(b, math.Float64bits(math.NaN())) // of the NaNs that a file may hold, one
				default:
					b = le.AppendUint64(b, math.Float64bits(v))
				}
			}
			b = le.AppendUint64(b, math.Float64bits(y[i]))
			n := len(b)
			for k, column := range d.group {
				b = text(b, column, of[len(d.inputs)+k])
			}
			row(b, b[n:])
		}
	})
}
