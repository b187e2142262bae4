package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"math"
	"slices"
)

// Hash identifies the given rows by their values: the SHA-256, in hex, of len(rows) and
// Cols as little-endian uint64 and then, in increasing row order whatever the order of
// rows, each row's inputs and target as little-endian IEEE-754 bits. It is part of the
// model-file format.
func (d *Data) Hash(rows []int) (string, error) {
	if !slices.IsSorted(rows) {
		rows = slices.Sorted(slices.Values(rows))
	}
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(rows)))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(d.Cols))
	err := d.each(rows, func(_ int, x, y []float64) {
		for i := range y {
			h.Write(buf)
			buf = appendRow(buf[:0], x, y, d.Cols, i)
		}
	})
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil)), err
}

// appendRow appends the bits of row i, inputs then target.
func appendRow(b []byte, x, y []float64, cols, i int) []byte {
	for _, v := range x[i*cols : (i+1)*cols] {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(y[i]))
}

// RowHashes returns the 64-bit FNV-1a hash of each given row's bits, inputs then target.
// It is part of the model-file format.
func (d *Data) RowHashes(rows []int) ([]uint64, error) {
	hashes := make([]uint64, 0, len(rows))
	h := fnv.New64a()
	var buf []byte
	err := d.each(rows, func(_ int, x, y []float64) {
		for i := range y {
			buf = appendRow(buf[:0], x, y, d.Cols, i)
			h.Reset()
			h.Write(buf)
			hashes = append(hashes, h.Sum64())
		}
	})
	return hashes, err
}
