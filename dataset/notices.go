package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/internal/cautious"
	"github.com/krigo-gp/krigo/ranks"
)

// Notices returns what a person should know about the data before fitting, a
// sentence each. None of it is an error.
func (d *Data) Notices() ([]string, error) {
	rows := d.All()
	columns, err := d.moments(rows)
	if err != nil {
		return nil, err
	}
	var notices, constant, close, small, large []string
	for j, name := range d.Inputs {
		switch m := columns[j]; {
		case d.Encoding.OneHot(j): // often constant: nothing need be other
		case m.constant() && m.sd > 1e-15*math.Abs(m.mean):
			close = append(close, name)
		case m.constant():
			constant = append(constant, name)
		case m.sd < 1e-9:
			small = append(small, name)
		case m.sd > 1e9:
			large = append(large, name)
		}
	}
	target := columns[d.Cols]
	switch {
	case target.sd < 1e-9:
		small = append(small, d.Target)
	case target.sd > 1e9:
		large = append(large, d.Target)
	}
	if len(constant) > 0 {
		notices = append(notices, "the same value in every row, so nothing is learnt from: "+quoted(constant, 5))
	}
	if len(close) > 0 {
		notices = append(notices, "values that differ by too little for numbers of that size, so nothing is learnt from "+
			"them; subtract a constant: "+quoted(close, 5))
	}
	seen, err := d.tableNotices()
	if err != nil {
		return nil, err
	}
	notices = append(notices, seen...)
	if all := d.table.centuries; all != nil {
		notices = append(notices, "years of two digits are taken for 1969 to 2068, in the columns "+quoted(all, 5))
	}
	if n := d.table.dropped; n > 0 {
		notices = append(notices, fmt.Sprintf("%d of %d rows repeat an earlier one in every cell, and were left out", n,
			d.Rows+n))
	}
	if n, row, err := d.repeats(rows); err != nil {
		return nil, err
	} else if n > 0 {
		notices = append(notices, fmt.Sprintf("%d of %d rows repeat an earlier row exactly (the first is row %d); all are "+
			"kept (--duplicates drop, or group)", n, d.Rows, row+1))
	}
	if names := d.alike(); names != nil {
		notices = append(notices, fmt.Sprintf("groups whose names differ by case or spaces alone are groups of their own: %s",
			quoted(names, 6)))
	}
	if d.Rows < d.Cols {
		notices = append(notices, fmt.Sprintf("fewer rows (%d) than inputs (%d)", d.Rows, d.Cols))
	}
	if len(small) > 0 {
		notices = append(notices, "standard deviation below 1e-9, check the unit: "+quoted(small, 5))
	}
	if len(large) > 0 {
		notices = append(notices, "standard deviation above 1e9, check the unit: "+quoted(large, 5))
	}
	if math.Abs(target.mean) > 1e6*target.sd {
		notices = append(notices, fmt.Sprintf("the mean of target %q (%s) is more than a million standard deviations (%s) "+
			"from 0: subtract a constant to keep digits", d.Target, cautious.Number(target.mean), cautious.Number(target.sd)))
	}
	if square := target.sd * target.sd; square < 0x1p-1022 || square > math.MaxFloat64 {
		notices = append(notices, fmt.Sprintf("target %q has the standard deviation %s, so that variances of its "+
			"predictions leave the range of float64: use their standard deviations, or another unit", d.Target,
			cautious.Number(target.sd)))
	}
	return notices, nil
}

// tableNotices are about what the table's rows and cells seem to be, and are not taken for.
func (d *Data) tableNotices() (notices []string, err error) {
	t := d.table
	notices = slices.Concat(t.Strays(), t.someZones(), t.mixedUnits())
	var columns []int
	if t.Names[0] == indexName && t.disk == nil && !slices.Contains(slices.Concat(d.inputs, d.group, d.target), 0) {
		columns = append(columns, 0)
	}
	if d.Encoding != nil {
		for k, c := range d.Encoding.Columns {
			if c.Categories != nil && t.texts(d.inputs[k]) != nil {
				columns = append(columns, d.inputs[k])
			}
		}
	}
	if columns == nil {
		return notices, nil
	}
	facts, err := t.describe(columns)
	for _, f := range facts {
		if f.Kind == "index" && f.Why == unnamed {
			notices = append(notices, unnamed)
		}
		if f.Why != "" && (f.Kind == "number" || f.Kind == "date") || f.Kind == "text" && f.Then != "" {
			notices = append(notices, fmt.Sprintf("%q is read as categories, but seems to hold something else: %s", clip(f.Name),
				f.Why))
		}
	}
	return notices, err
}

// alike returns names of groups that are the same but for case and spaces.
func (d *Data) alike() (names []string) {
	first := map[string]string{}
	for _, column := range d.group {
		for _, text := range d.table.texts(column) {
			plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
			if before, known := first[plain]; known {
				names = append(names, before, text)
			} else {
				first[plain] = text
			}
		}
	}
	return names
}

// mark stands for a row: that two of a million million rows share its 16 bytes by chance has
// probability 1e-15.
type mark struct {
	high, low uint64
	row       int
}

// repeats counts the rows equal to an earlier one, inputs and target, and
// returns the first of them.
func (d *Data) repeats(rows []int) (count, first int, err error) {
	digests := make([]mark, 0, len(rows))
	err = d.eachRow(rows, func(row, _ []byte) {
		sum := sha256.Sum256(row)
		digests = append(digests, mark{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]),
			rows[len(digests)]})
	})
	if err == nil {
		digests, err = dealOut(d.Ranks(), digests)
	}
	slices.SortFunc(digests, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low), cmp.Compare(a.row, b.row))
	})
	for i := 1; i < len(digests); i++ {
		if a, b := digests[i-1], digests[i]; a.high == b.high && a.low == b.low {
			if count == 0 || b.row < first {
				first = b.row
			}
			count++
		}
	}
	if err != nil {
		return 0, 0, err
	}
	found, err := ranks.All(d.Ranks(), float64(count), float64(first))
	total := 0
	for _, f := range found {
		if f[0] > 0 && (total == 0 || int(f[1]) < first) {
			first = int(f[1])
		}
		total += int(f[0])
	}
	return total, first, err
}

// dealOut deals digests out to the ranks, so that equal ones come to the same.
func dealOut(r ranks.Ranks, own []mark) ([]mark, error) {
	if r.Size() == 1 {
		return own, nil
	}
	var mine []mark
	err := ranks.Exchange(r, func(i int) []uint64 {
		v := make([]uint64, 0, 3*blockRows)
		for _, d := range own[min(i*blockRows, len(own)):min((i+1)*blockRows, len(own))] {
			v = append(v, d.high, d.low, uint64(d.row))
		}
		return v
	}, func(_ int, v []uint64) {
		for ; len(v) > 0; v = v[3:] {
			if int(v[0]%uint64(r.Size())) == r.Rank() {
				mine = append(mine, mark{v[0], v[1], int(v[2])})
			}
		}
	})
	return mine, err
}
