package dataset

import (
	"context"
	"fmt"
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

// Within is the same data for work that ends with a context; see [Table.Within].
func (d *Data) Within(ctx context.Context) *Data {
	within := *d
	within.table = d.table.Within(ctx)
	return &within
}

// Context is what was given to Within, or nil.
func (d *Data) Context() context.Context { return d.table.ctx }

// Ranks are those that the rows are spread over.
func (d *Data) Ranks() ranks.Ranks { return d.table.Ranks() }

// All returns the numbers of all rows that this rank has.
func (d *Data) All() []int {
	first, n := d.table.Own()
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
	first, n := d.table.Own()
	return row < first || row >= first+n
}

// Table is what the data view.
func (d *Data) Table() *Table { return d.table }

// Columns returns which columns of the table are inputs, as they stand or encoded.
func (d *Data) Columns() []int { return slices.Clone(d.inputs) }

// Group returns the name of the column by which rows are grouped; "" where each stands for itself.
func (d *Data) Group() string {
	if d.group == nil {
		return ""
	}
	return d.table.Names[d.group[0]]
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
				if err := d.table.Read(first, n, d.inputs, cells); err != nil {
					return err
				}
				encode(d.encoders, to, cells)
			} else if err := d.table.Read(first, n, d.inputs, to); err != nil {
				return err
			}
		}
		if y != nil {
			if err := d.table.Read(first, n, d.target, y[:n]); err != nil {
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
