package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"math"
	"slices"
)

// Hash identifies the given rows of X (cols columns) and y by their values: the
// SHA-256, in hex, of len(rows) and cols as little-endian uint64 and then, in
// increasing row order whatever the order of rows, each row's inputs and target
// as little-endian IEEE-754 bits. It is part of the model-file format.
func Hash(x, y []float64, rows []int, cols int) string {
	rows = slices.Sorted(slices.Values(rows))
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(rows)))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(cols))
	for _, i := range rows {
		h.Write(buf)
		buf = appendRow(buf[:0], x, y, cols, i)
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil))
}

// appendRow appends the bits of row i, inputs then target.
func appendRow(b []byte, x, y []float64, cols, i int) []byte {
	for _, v := range x[i*cols : (i+1)*cols] {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(y[i]))
}

// RowHash is a 64-bit FNV-1a hash of one row's bits, inputs then target. It is part of
// the model-file format.
func (d *Data) RowHash(row int) uint64 {
	h := fnv.New64a()
	h.Write(appendRow(nil, d.X, d.Y, d.Cols, row))
	return h.Sum64()
}
