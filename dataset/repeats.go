package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
)

// EqualRows names, in the place of a column, groups of rows whose inputs and target are the same: copies of one
// observation, of which none says more than the others. See [Data.GroupBy].
const EqualRows = "(equal rows)"

// distinct leaves out rows that equal an earlier one in every cell.
func (t *Table) distinct() error {
	if t.disk != nil {
		return fmt.Errorf("%s: rows that stay on disk can't be left out: write the table as CSV, or leave repeated rows",
			t.Source)
	}
	cols := len(t.Names)
	seed := maphash.MakeSeed()
	kept := map[uint64][]int{} // rows by their hash
	values := t.Values[:0]
	lines := t.Lines[:0]
	rows := 0
	same := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
	}
	for i := range t.Rows {
		row := t.Values[i*cols : (i+1)*cols]
		var h maphash.Hash
		h.SetSeed(seed)
		for _, v := range row {
			if v != v {
				v = math.NaN() // one of many
			}
			maphash.WriteComparable(&h, math.Float64bits(v+0))
		}
		key := h.Sum64()
		if slices.ContainsFunc(kept[key], func(k int) bool { return same(values[k*cols:(k+1)*cols], row) }) {
			continue
		}
		kept[key] = append(kept[key], rows)
		values = append(values, row...)
		if t.Lines != nil {
			lines = append(lines, t.Lines[i])
		}
		rows++
	}
	t.dropped += t.Rows - rows
	t.Values, t.Rows = values, rows
	if t.Lines != nil {
		t.Lines = lines
	}
	return nil
}

// Dropped is the number of rows that were left out when the table was read, as they repeat others.
func (t *Table) Dropped() int { return t.dropped }

// groupEqual makes rows with the same inputs and target a group.
func (d *Data) groupEqual() (*Data, error) {
	t := d.table
	if t.disk != nil {
		return nil, fmt.Errorf("%s: rows that stay on disk can't be grouped by what they hold: write the table as CSV",
			t.Source)
	}
	begin, own := t.own()
	rows := make([]int, own)
	for i := range rows {
		rows[i] = begin + i
	}
	cols := len(t.Names)
	wider := *t
	wider.Names = append(slices.Clone(t.Names), EqualRows)
	wider.Text = make([][]string, cols+1)
	copy(wider.Text, t.Text)
	wider.codes = make([]map[string]float64, cols+1)
	copy(wider.codes, t.codes)
	wider.Values = make([]float64, 0, own*(cols+1))
	_, held := t.where(begin)
	err := d.eachRow(rows, func(row, _ []byte) {
		sum := sha256.Sum256(row)
		at := held + len(wider.Values)/(cols+1)
		wider.Values = append(wider.Values, t.Values[at*cols:(at+1)*cols]...)
		wider.Values = append(wider.Values, wider.code(cols, hex.EncodeToString(sum[:])))
	})
	if err != nil {
		return nil, err
	}
	grouped := *d
	grouped.table, grouped.group = &wider, []int{cols}
	return &grouped, nil
}
