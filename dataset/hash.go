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

// Hash identifies the given rows, those of all ranks together, by their values: the SHA-256, in hex, of len(rows) and
// Cols as little-endian uint64 and then, in increasing row order whatever the order of
// rows, each row's inputs and target as little-endian IEEE-754 bits. It is part of the
// model-file format.
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
	buf := binary.LittleEndian.AppendUint64(nil, uint64(total))
	h.Write(binary.LittleEndian.AppendUint64(buf, uint64(d.Cols)))
	err = ranks.InTurn(r, func() error {
		return d.each(rows, func(_ int, x, y []float64) {
			for i := range y {
				buf = appendRow(buf[:0], x, y, d.Cols, i)
				h.Write(buf)
			}
		})
	}, h.(encoding.BinaryMarshaler).MarshalBinary, h.(encoding.BinaryUnmarshaler).UnmarshalBinary)
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
