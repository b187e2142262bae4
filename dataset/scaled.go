package dataset

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// Scaled is some rows of a regression problem in scaled units, read and scaled block by
// block from the table, in memory or on disk. It may be read by several goroutines.
type Scaled struct {
	Data    *Data
	Numbers []int // of the rows, in the order in which they are read
	Scaling Scaling

	// Places are those of the rows, in ascending order, among the rows of all ranks; nil where
	// they follow those of the ranks before.
	Places []int

	failed atomic.Pointer[error]
}

// Scaled views the given rows by the constants of a scaling.
func (d *Data) Scaled(rows []int, s Scaling) *Scaled {
	return &Scaled{Data: d, Numbers: rows, Scaling: s}
}

// ScaledOf views the rows of this rank that have the role.
func (d *Data) ScaledOf(roles Roles, role Role, s Scaling) *Scaled {
	all := roles.Rows(role)
	if d.Ranks().Size() == 1 {
		return d.Scaled(all, s)
	}
	v := d.Scaled(nil, s)
	v.Places = []int{}
	for k, row := range all {
		if !d.elsewhere(row) {
			v.Numbers, v.Places = append(v.Numbers, row), append(v.Places, k)
		}
	}
	return v
}

// Spread returns the Places.
func (s *Scaled) Spread() []int { return s.Places }

// Place returns the place of row i of a view by ScaledOf among those of all ranks.
func (s *Scaled) Place(i int) int {
	if s.Places == nil {
		return i
	}
	return s.Places[i]
}

// Dims returns the number of rows and of inputs.
func (s *Scaled) Dims() (rows, cols int) { return len(s.Numbers), s.Data.Cols }

// Context is that of the data, with which work on them ends; nil where there is none. See [Data.Within].
func (s *Scaled) Context() context.Context { return s.Data.Context() }

// Block reads rows first, …, first+n−1 of the view: inputs into x (n×cols, row-major),
// targets into y (n), unless that is nil. Scaled values that overflow are an error.
func (s *Scaled) Block(first, n int, x, y []float64) error {
	if first < 0 || n < 0 || first > len(s.Numbers)-n {
		return s.keep(fmt.Errorf("%s: rows %d to %d asked for, of %d", s.Data.Source, first+1, first+n, len(s.Numbers)))
	}
	return s.read(s.Numbers[first:first+n], x, y)
}

// Pick reads the rows of the view with these numbers, as Block does.
func (s *Scaled) Pick(rows []int, x, y []float64) error {
	numbers := make([]int, len(rows))
	for i, row := range rows {
		numbers[i] = s.Numbers[row]
	}
	return s.read(numbers, x, y)
}

// read reads rows of the table.
func (s *Scaled) read(numbers []int, x, y []float64) error {
	n, cols := len(numbers), s.Data.Cols
	if len(x) != n*cols || y != nil && len(y) != n {
		return s.keep(fmt.Errorf("%s: %d rows of %d inputs don't fit %d and %d values", s.Data.Source, n, cols, len(x),
			len(y)))
	}
	if err := s.Data.Read(numbers, x, y); err != nil {
		return s.keep(err)
	}
	s.Scaling.Inputs(x, x)
	s.Scaling.Target(y, y)
	for i, row := range numbers {
		ok := allFinite(x[i*cols : (i+1)*cols])
		if y != nil {
			ok = ok && allFinite(y[i:i+1])
		}
		if !ok {
			at := s.Data.table.place(row)
			at.Err = errors.New("a value is so far from the others that its scaled form overflows: mend or remove the row")
			return s.keep(at)
		}
	}
	return nil
}

// keep keeps the first error.
func (s *Scaled) keep(err error) error {
	s.failed.CompareAndSwap(nil, &err)
	return err
}

// Err returns the first error of Block and Pick. Whoever hands the view to code that takes
// errors for bad parameters asks here whether it was the rows.
func (s *Scaled) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}
