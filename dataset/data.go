package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/ranks"
)

// Data is a regression problem, in the units of the file: a view of the columns of a
// [Table] that are its inputs and its target. Nothing is copied.
type Data struct {
	Source     string
	Inputs     []string  // names of the inputs
	Target     string    // name of the target column; empty if there is none
	Rows, Cols int       // rows, and inputs of each
	Encoding   *Encoding // by which columns become inputs; nil: they are inputs as they stand

	table    *Table
	inputs   []int     // columns of the table
	encoders []encoder // of each; nil without an encoding
	target   []int     // its column; none for inputs alone
	group    []int     // the column by which rows are grouped; none where each stands for itself
}

// blockRows is how many rows are read at a time where all are gone through.
const blockRows = 4096

// Ranks are those that the rows are spread over.
func (d *Data) Ranks() ranks.Ranks { return d.table.Ranks() }

// All returns the numbers of all rows that this rank has.
func (d *Data) All() []int {
	first, n := d.table.own()
	numbers := upTo(n)
	for i := range numbers {
		numbers[i] += first
	}
	return numbers
}

// Own returns which of the rows this rank has.
func (d *Data) Own(rows []int) []int {
	return slices.DeleteFunc(slices.Clone(rows), d.elsewhere)
}

// RowsOf returns the rows of this rank that have the role, in the order of the roles.
func (d *Data) RowsOf(roles Roles, role Role) []int {
	return slices.DeleteFunc(roles.Rows(role), d.elsewhere)
}

// elsewhere says whether another rank has a row.
func (d *Data) elsewhere(row int) bool {
	first, n := d.table.own()
	return row < first || row >= first+n
}

// GroupBy makes rows that share the text or number in a column a group: they get their role
// together. The column may be none of the inputs, nor the target.
func (d *Data) GroupBy(column string) (*Data, error) {
	if column == d.Target || slices.Contains(d.Inputs, column) {
		return nil, fmt.Errorf("%s: column %q can't be both a column of the model and what rows are grouped by", d.Source, clip(column))
	}
	at, err := d.table.column(column, "to group rows by")
	if err != nil {
		return nil, err
	}
	if err := d.table.check(use{column: at, categorical: true}); err != nil {
		return nil, err
	}
	grouped := *d
	grouped.group = []int{at}
	return &grouped, nil
}

// Grouped says whether rows belong to groups.
func (d *Data) Grouped() bool { return d.group != nil }

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// Where says where a row, counted from 0, stands in the file: its line, or its number.
func (d *Data) Where(row int) string { return d.table.Where(row) }

// Read copies the given rows, in the given order: their inputs to x (len(rows)×Cols,
// row-major), their targets to y (len(rows)). Either may be nil. It fails where a file
// can't be read any more.
func (d *Data) Read(rows []int, x, y []float64) error {
	var cells []float64 // of a block of rows that are to be encoded
	for len(rows) > 0 {
		first, n, most := rows[0], 1, len(rows)
		if d.encoders != nil {
			most = min(most, blockRows)
		}
		for n < most && rows[n] == first+n {
			n++
		}
		if first < 0 || first+n > d.Rows {
			return fmt.Errorf("%s: rows %d to %d asked for, of %d", d.Source, first+1, first+n, d.Rows)
		}
		rows = rows[n:]
		if x != nil {
			to := x[:n*d.Cols]
			x = x[n*d.Cols:]
			if d.encoders != nil {
				cells = slices.Grow(cells[:0], n*len(d.inputs))[:n*len(d.inputs)]
				if err := d.table.read(first, n, d.inputs, cells); err != nil {
					return err
				}
				encode(d.encoders, to, cells)
			} else if err := d.table.read(first, n, d.inputs, to); err != nil {
				return err
			}
		}
		if y != nil {
			if err := d.table.read(first, n, d.target, y[:n]); err != nil {
				return err
			}
			y = y[n:]
		}
	}
	return nil
}

// Select is Read into new memory.
func (d *Data) Select(rows []int) (x, y []float64, err error) {
	x, y = make([]float64, len(rows)*d.Cols), make([]float64, len(rows))
	return x, y, d.Read(rows, x, y)
}

// Targets returns the targets of the given rows.
func (d *Data) Targets(rows []int) ([]float64, error) {
	y := make([]float64, len(rows))
	return y, d.Read(rows, nil, y)
}

// each reads the given rows block by block; rows[first] is the first of a block.
func (d *Data) each(rows []int, block func(first int, x, y []float64)) error {
	x, y := make([]float64, blockRows*d.Cols), make([]float64, blockRows)
	for first := 0; first < len(rows); first += blockRows {
		n := min(blockRows, len(rows)-first)
		if err := d.Read(rows[first:first+n], x[:n*d.Cols], y[:n]); err != nil {
			return err
		}
		block(first, x[:n*d.Cols], y[:n])
	}
	return nil
}

// Notices returns what a person should know about the data before fitting, a
// sentence each. None of it is an error.
func (d *Data) Notices() ([]string, error) {
	rows := d.All()
	columns, err := d.moments(rows)
	if err != nil {
		return nil, err
	}
	var notices, constant, small, large []string
	for j, name := range d.Inputs {
		switch m := columns[j]; {
		case d.Encoding.OneHot(j): // often constant: nothing need be other
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
	if n, row, err := d.repeats(rows); err != nil {
		return nil, err
	} else if n > 0 {
		notices = append(notices, fmt.Sprintf("%d of %d rows repeat an earlier row exactly (the first is row %d); all are kept", n, d.Rows, row+1))
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
		notices = append(notices, fmt.Sprintf("the mean of target %q (%.4g) is more than a million standard deviations (%.4g) from 0: subtract a constant to keep digits", d.Target, target.mean, target.sd))
	}
	return notices, nil
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
		digests = append(digests, mark{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]), rows[len(digests)]})
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
