package dataset

import (
	"math"
	"slices"

	"github.com/krigo-gp/krigo/ranks"
)

// targeted returns the table without the rows whose cells in the columns at (the targets) are all
// missing. If fewer than two rows have a target, it returns the table as it is, and later checks
// name the first row without a target.
func (t *Table) targeted(at []int) (*Table, error) {
	begin, own := t.Own()
	var missing []int // this rank's rows without a target
	if err := t.Each(at, func(i int, cells []float64) error {
		if lacks(cells) {
			missing = append(missing, i)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	r := t.Ranks()
	first, total, err := ranks.Place(r, own-len(missing))
	if err != nil || total == t.Rows || total < 2 {
		return t, err
	}
	left := *t
	left.from = t
	left.Rows, left.Found.Untargeted = total, t.Rows-total
	left.part = &part{ranks: r, first: first, rows: own - len(missing)}
	left.Values = nil
	left.Lines = nil
	cols := len(t.Names)
	var rows []int // indices in Values, or on Disk, of the rows with a target
	for i := begin; i < begin+own; i++ {
		if len(missing) > 0 && missing[0] == i {
			missing = missing[1:]
			continue
		}
		inFile, held := t.where(i)
		left.numbers = append(left.numbers, inFile)
		rows = append(rows, held)
	}
	if t.Disk != nil {
		left.Disk = some{t.Disk, rows}
		return &left, nil
	}
	left.Values = make([]float64, 0, len(rows)*cols)
	for _, k := range rows {
		left.Values = append(left.Values, t.Values[k*cols:(k+1)*cols]...)
		if t.Lines != nil {
			left.Lines = append(left.Lines, t.Lines[k])
		}
	}
	left.unread = map[place]string{}
	for at, text := range t.unread {
		if k, found := slices.BinarySearch(rows, at.row); found {
			left.unread[place{k, at.column}] = text
		}
	}
	left.restore()
	return &left, nil
}

// lacks says whether all cells are missing.
func lacks(cells []float64) bool {
	return !slices.ContainsFunc(cells, func(v float64) bool { return v == v })
}

// restore turns a column of text into numbers if the rows whose texts aren't numbers have all been
// left out.
func (t *Table) restore() {
	t.Text = slices.Clone(t.Text)
	t.codes = nil
	for j, texts := range t.Text {
		if texts == nil {
			continue
		}
		numbers := make([]float64, len(texts))
		for k, text := range texts {
			v, err := parse(text)
			if numbers[k] = v; err != nil || v-v != 0 || t.Strange(j, text) {
				numbers[k] = math.NaN()
			}
		}
		are := true
		for _, cell := range t.held(j) {
			are = are && (*cell != *cell || numbers[int(*cell)] == numbers[int(*cell)])
		}
		if !are {
			continue
		}
		for _, cell := range t.held(j) {
			if *cell == *cell {
				*cell = numbers[int(*cell)]
			}
		}
		t.Text[j] = nil
	}
}

// some is a store that holds some rows of another store.
type some struct {
	Store
	rows []int
}

// Read reads stretches of rows that follow one another in the other store with one call each.
func (s some) Read(first, count int, columns []int, out []float64) error {
	for n := 0; count > 0; first, count = first+n, count-n {
		for n = 1; n < count && s.rows[first+n] == s.rows[first]+n; n++ {
		}
		if err := s.Store.Read(s.rows[first], n, columns, out[:n*len(columns)]); err != nil {
			return err
		}
		out = out[n*len(columns):]
	}
	return nil
}
