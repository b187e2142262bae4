package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/ranks"
)

// Rows by their bytes: hashes that identify rows, and rows that equal one another.

// Hash identifies the given rows, of all ranks together, by the cells of the table before any
// encoding. It returns the SHA-256, in hex, of the number of rows and the number of input columns,
// as little-endian uint64, and then of each row's bytes.
// The hash takes the rows in increasing order, even if the caller gives them in another order.
// The hash is part of the model-file format up to version 4.
//
// A row's bytes are its inputs, in the order that [Data.Ordered] sets, then its offset or exposure,
// its standard error and its side of a limit (−1, 0 or 1) if it has them, and then its target, as
// little-endian IEEE-754 bits. The bytes of a categorical cell are instead the length of its text
// as uint64, and then the text, which is empty if the category is missing.
// A row in a group ends with the length of the group's text and this text.
// A block's text is the numbers of its intervals with commas between.
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

// RowHashes returns the 64-bit FNV-1a hash of each given row's bytes, and of each row's group. The
// bytes are as in [Data.Hash] but without the group, so that a copy in another group has the same
// hash. The hash of a group is taken of its name. groups is nil if rows aren't grouped.
// The hashes of rows and of groups are part of the model-file format.
func (d *Data) RowHashes(rows []int) (hashes, groups []uint64, err error) {
	err = d.eachRow(rows, func(row, group []byte) {
		hashes = append(hashes, fnv1a(fnvOffset, row[:len(row)-len(group)]))
		if d.group != nil {
			groups = append(groups, fnv1a(fnvOffset, group))
		}
	})
	return hashes, groups, err
}

// fnvOffset is the FNV-1a hash (64 bits) of no bytes.
const fnvOffset = 14695981039346656037

// fnv1a returns the FNV-1a hash of bytes that follow those whose hash is h.
// It allocates nothing, since it is called for every cell.
func fnv1a(h uint64, b []byte) uint64 {
	const prime = 1099511628211
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	return h
}

// eachRow calls row with the bytes of each given row.
// group is the end of these bytes that stands for the group, if any.
func (d *Data) eachRow(rows []int, row func(row, group []byte)) error {
	order := d.order
	if order == nil {
		order = linalg.UpTo(len(d.inputs))
	}
	var b []byte
	return d.eachCells(rows, func(cells [][]byte, rest, group []byte) {
		b = b[:0]
		for _, k := range order {
			b = append(b, cells[k]...)
		}
		b = append(b, rest...)
		n := len(b)
		b = append(b, group...)
		row(b, b[n:])
	})
}

// ContentOrder returns an order of the columns that become inputs which doesn't depend on how a
// file orders or names them, unless two columns have equal cells beside equal targets.
// It is nil if it is the order in which they stand.
// A column's place is decided by the sum, modulo 2⁶⁴, of the FNV-1a hashes of each row's cell with
// the row's bytes after the inputs. Columns of equal sums are ordered by name.
// The order is part of the model-file format.
func (d *Data) ContentOrder() ([]int, error) {
	own := make([]uint64, len(d.inputs)) // sums of this rank's rows
	err := d.eachCells(d.All(), func(cells [][]byte, rest, _ []byte) {
		for k, cell := range cells {
			own[k] += fnv1a(fnv1a(fnvOffset, cell), rest)
		}
	})
	if err = d.Ranks().Agree(err); err != nil {
		return nil, err
	}
	all, err := ranks.Gather(d.Ranks(), own)
	if err != nil {
		return nil, err
	}
	order := linalg.UpTo(len(own))
	// all holds the sums of one rank after another. Sums modulo 2⁶⁴ don't depend on the rows'
	// order.
	sums := make([]uint64, len(own))
	for i, part := range all {
		sums[i%len(sums)] += part
	}
	slices.SortStableFunc(order, func(a, b int) int {
		names := cmp.Compare(d.table.Names[d.inputs[a]], d.table.Names[d.inputs[b]])
		return cmp.Or(cmp.Compare(sums[a], sums[b]), names)
	})
	if slices.IsSorted(order) {
		return nil, nil
	}
	return order, nil
}

// Ordered returns the data with the order in which the columns of inputs enter a row's bytes (see
// [Data.ContentOrder]).
// Inputs and predictions keep their own order.
func (d *Data) Ordered(order []int) *Data {
	of := *d
	of.order = order
	return &of
}

// eachCells calls row with the bytes of each given row:
// those of each column that becomes an input, those after them, and those of the group, if any.
func (d *Data) eachCells(rows []int, row func(cells [][]byte, rest, group []byte)) error {
	// read reads the raw columns that enter a row's bytes, in this order: inputs, columns of
	// Beyond, sides of limits, the targets of OfAny, and columns that make the group.
	read := *d
	read.encoders = nil
	read.further = nil
	observed := slices.Concat(d.observed, d.limits)
	read.inputs = slices.Concat(d.inputs, observed, d.beside, d.group)
	read.Cols = len(read.inputs)
	le := binary.LittleEndian
	long := func(b []byte, text string) []byte {
		return append(le.AppendUint64(b, uint64(len(text))), text...)
	}
	cells := make([][]byte, len(d.inputs))
	var rest, group []byte
	return read.each(rows, func(_ int, x, y []float64) {
		for i := range y {
			of := x[i*read.Cols : (i+1)*read.Cols]
			// A category enters as its text, after the text's length, because codes differ between
			// tables. A number enters as its eight bytes, little endian.
			for k, v := range of[:len(cells)] {
				if d.encoders != nil && d.encoders[k].places != nil {
					cells[k] = long(cells[k][:0], d.table.text(d.inputs[k], v))
				} else {
					cells[k] = le.AppendUint64(cells[k][:0], canonical(v))
				}
			}
			by := of[len(cells):]
			rest = rest[:0]
			for range observed {
				rest = le.AppendUint64(rest, math.Float64bits(by[0]))
				by = by[1:]
			}
			// The targets of OfAny take the place of the target.
			if d.beside == nil {
				rest = le.AppendUint64(rest, math.Float64bits(y[i]))
			}
			for _, v := range by[:len(d.beside)] {
				rest = le.AppendUint64(rest, canonical(v))
			}
			by = by[len(d.beside):]
			switch {
			case d.blocks != nil:
				group = long(group[:0], d.blocks.name(by))
			case d.group != nil:
				group = long(group[:0], d.table.text(d.group[0], by[0]))
			}
			row(cells, rest, group)
		}
	})
}

// canonical returns the bits of a number, the same for every NaN.
func canonical(v float64) uint64 {
	if v != v {
		v = math.NaN()
	}
	return math.Float64bits(v)
}

// EqualRows is given to [Data.GroupBy] instead of a column.
// It groups rows whose inputs and target are the same.
// Such rows count as copies of one observation, and a copy adds no information.
const EqualRows = "(equal rows)"

// distinct leaves out rows that equal an earlier row in every cell.
func (t *Table) distinct() error {
	if t.Disk != nil {
		return fmt.Errorf("%s: rows that stay on disk can't be left out: write the table as CSV, "+
			"or leave repeated rows", t.Source)
	}
	for j := range t.Names {
		if err := t.Refused(j); err != nil {
			return fmt.Errorf("--duplicates drop compares all cells, and some can't be read: %w",
				err)
		}
	}
	cols := len(t.Names)
	values := t.Values[:0]
	lines := t.Lines[:0]
	for i, repeated := range t.Repeated() {
		if repeated {
			t.Found.Dropped++
			continue
		}
		values = append(values, t.Values[i*cols:(i+1)*cols]...)
		if t.Lines != nil {
			lines = append(lines, t.Lines[i])
		}
	}
	t.Values = values
	t.Lines = lines
	t.Rows = len(values) / cols
	return nil
}

// Repeated says for each row of a table in memory whether the row equals an earlier row in every
// cell. A row that has a cell that can't be read equals no other row.
func (t *Table) Repeated() []bool {
	cols := len(t.Names)
	seed := maphash.MakeSeed()
	kept := map[uint64][]int{} // rows by their hash
	repeated := make([]bool, t.Rows)
	if t.refused != nil {
		return repeated
	}
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(x, y float64) bool {
			return x == y || (x != x && y != y)
		})
	}
	for i := range t.Rows {
		row := t.Values[i*cols : (i+1)*cols]
		var h maphash.Hash
		h.SetSeed(seed)
		for _, v := range row {
			if v != v {
				v = math.NaN() // all NaNs get the same bits
			}
			maphash.WriteComparable(&h, math.Float64bits(v+0))
		}
		key := h.Sum64()
		repeated[i] = slices.ContainsFunc(kept[key], func(k int) bool {
			return same(t.Values[k*cols:(k+1)*cols], row)
		})
		if !repeated[i] {
			kept[key] = append(kept[key], i)
		}
	}
	return repeated
}

// groupEqual makes a group of the rows that have the same inputs and target.
func (d *Data) groupEqual() (*Data, error) {
	t := d.table
	if t.Disk != nil {
		return nil, fmt.Errorf("%s: rows that stay on disk can't be grouped by what they hold: "+
			"write the table as CSV", t.Source)
	}
	// wider is a copy of this rank's rows with one more column of text: the SHA-256 of a row's
	// bytes, in hex.
	begin, own := t.Own()
	cols := len(t.Names)
	wider := *t
	wider.Names = append(slices.Clone(t.Names), EqualRows)
	wider.Text = make([][]string, cols+1)
	copy(wider.Text, t.Text)
	wider.codes = make([]map[string]float64, cols+1)
	copy(wider.codes, t.codes)
	wider.Values = make([]float64, 0, own*(cols+1))
	_, held := t.where(begin)
	err := d.eachRow(d.All(), func(row, _ []byte) {
		sum := sha256.Sum256(row)
		at := held + len(wider.Values)/(cols+1)
		wider.Values = append(wider.Values, t.Values[at*cols:(at+1)*cols]...)
		wider.Values = append(wider.Values, wider.code(cols, hex.EncodeToString(sum[:])))
	})
	if err != nil {
		return nil, err
	}
	grouped := *d
	grouped.table = &wider
	grouped.group = []int{cols}
	grouped.grouping = EqualRows
	return &grouped, nil
}
