package dataset

import (
	"fmt"
	"sync/atomic"
)

// Scaled is some rows of a regression problem in scaled units, read and scaled block by
// block from the table, in memory or on disk. It may be read by several goroutines.
type Scaled struct {
	Data    *Data
	Numbers []int // of the rows, in the order in which they are read
	Scaling Scaling

	failed atomic.Pointer[error]
}

// Scaled views the given rows by the constants of a scaling.
func (d *Data) Scaled(rows []int, s Scaling) *Scaled {
	return &Scaled{Data: d, Numbers: rows, Scaling: s}
}

// Dims returns the number of rows and of inputs.
func (s *Scaled) Dims() (rows, cols int) { return len(s.Numbers), s.Data.Cols }

// Block reads rows first, …, first+n−1 of the view: inputs into x (n×cols, row-major),
// targets into y (n), unless that is nil. Scaled values that overflow are an error.
func (s *Scaled) Block(first, n int, x, y []float64) error {
	err := s.block(first, n, x, y)
	if err != nil {
		s.failed.CompareAndSwap(nil, &err)
	}
	return err
}

func (s *Scaled) block(first, n int, x, y []float64) error {
	if first < 0 || n < 0 || first > len(s.Numbers)-n {
		return fmt.Errorf("%s: rows %d to %d asked for, of %d", s.Data.Source, first+1, first+n, len(s.Numbers))
	}
	cols := s.Data.Cols
	if len(x) != n*cols || y != nil && len(y) != n {
		return fmt.Errorf("%s: %d rows of %d inputs don't fit %d and %d values", s.Data.Source, n, cols, len(x), len(y))
	}
	if err := s.Data.Read(s.Numbers[first:first+n], x, y); err != nil {
		return err
	}
	s.Scaling.Inputs(x, x)
	s.Scaling.Target(y, y)
	for i := range n {
		ok := allFinite(x[i*cols : (i+1)*cols])
		if y != nil {
			ok = ok && allFinite(y[i:i+1])
		}
		if !ok {
			return fmt.Errorf("%s: %s: a value is so far from the others that its scaled form overflows: mend or remove the row",
				s.Data.Source, s.Data.Where(s.Numbers[first+i]))
		}
	}
	return nil
}

// Err returns the first error of Block. Whoever hands the view to code that takes errors
// for bad parameters asks here whether it was the rows.
func (s *Scaled) Err() error {
	if err := s.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func allFinite(vs []float64) bool {
	for _, v := range vs {
		if v-v != 0 {
			return false
		}
	}
	return true
}
