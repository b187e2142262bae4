package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/ranks"
)

// Findings returns what a person should know about the data before fitting. None of it is an error.
func (d *Data) Findings() (found finding.List, err error) {
	rows := d.All()
	columns, err := d.moments(rows)
	if err != nil {
		return nil, err
	}
	var constant, close, small, large []string
	list := func(kind finding.Kind, names []string) {
		if len(names) > 0 {
			found.Add(kind, names)
		}
	}
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
	list(finding.Constant, constant)
	list(finding.TooClose, close)
	seen, err := d.tableFindings()
	if err != nil {
		return nil, err
	}
	found = append(found, seen...)
	list(finding.Centuries, d.table.centuries)
	if n := d.table.dropped; n > 0 {
		found.Add(finding.Dropped, n, d.Rows+n)
	}
	if n, row, err := d.repeats(rows); err != nil {
		return nil, err
	} else if n > 0 {
		found.Add(finding.Repeats, n, d.Rows, row+1)
	}
	list(finding.AlikeGroups, d.alike())
	if d.Rows < d.Cols {
		found.Add(finding.FewRows, d.Rows, d.Cols)
	}
	list(finding.SmallScale, small)
	list(finding.LargeScale, large)
	if math.Abs(target.mean) > 1e6*target.sd {
		found.Add(finding.FarTarget, d.Target, target.mean, target.sd)
	}
	if square := target.sd * target.sd; square < 0x1p-1022 || square > math.MaxFloat64 {
		found.Add(finding.TargetScale, d.Target, target.sd)
	}
	return found, nil
}

// tableFindings are about what the table's rows and cells seem to be, and are not taken for.
func (d *Data) tableFindings() (found finding.List, err error) {
	t := d.table
	found = slices.Concat(t.Strays(), t.someZones(), t.mixedUnits())
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
		return found, nil
	}
	facts, err := t.describe(columns)
	for _, f := range facts {
		if f.unnamed {
			found = append(found, unnamed)
		}
		if f.Why != "" && (f.Kind == "number" || f.Kind == "date") || f.Kind == "text" && f.Then != "" {
			found.Add(finding.OddCategories, f.Name, f.Why)
		}
	}
	return found, err
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
