package dataset

import (
	"crypto/sha256"
	"fmt"
	"math"
)

// Data is a regression problem: inputs X and target y, in the units of the file.
type Data struct {
	Source     string
	Inputs     []string // names of the input columns
	Target     string   // name of the target column
	Rows, Cols int
	X          []float64 // Rows×Cols, row-major
	Y          []float64 // Rows
	Lines      []int     // line of the file on which each row starts
}

// Blocks is a regression problem read a block of rows at a time, so that none
// need be in memory whole.
type Blocks interface {
	// Dims returns the number of rows and of input columns.
	Dims() (rows, cols int)
	// Block copies rows first, …, first+n−1 into x (n×cols, row-major) and y (n).
	Block(first, n int, x, y []float64) error
}

var _ Blocks = (*Data)(nil)

// Dims returns Rows and Cols.
func (d *Data) Dims() (rows, cols int) { return d.Rows, d.Cols }

// Block implements [Blocks].
func (d *Data) Block(first, n int, x, y []float64) error {
	if first < 0 || n < 0 || first > d.Rows-n {
		return fmt.Errorf("%s: rows %d to %d asked for, of %d", d.Source, first+1, first+n, d.Rows)
	}
	if len(x) != n*d.Cols || len(y) != n {
		return fmt.Errorf("%s: %d rows of %d inputs do not fit %d and %d values", d.Source, n, d.Cols, len(x), len(y))
	}
	copy(x, d.X[first*d.Cols:(first+n)*d.Cols])
	copy(y, d.Y[first:first+n])
	return nil
}

// Select copies the given rows, in the given order.
func (d *Data) Select(rows []int) (x, y []float64) {
	x = make([]float64, 0, len(rows)*d.Cols)
	y = make([]float64, 0, len(rows))
	for _, i := range rows {
		x = append(x, d.X[i*d.Cols:(i+1)*d.Cols]...)
		y = append(y, d.Y[i])
	}
	return x, y
}

// Notices returns what a person should know about the data before fitting, a
// sentence each. None of it is an error.
func (d *Data) Notices() []string {
	var notices, constant, small, large []string
	for j, name := range d.Inputs {
		m := momentsOf(d.Rows, func(i int) float64 { return d.X[i*d.Cols+j] })
		switch {
		case m.constant():
			constant = append(constant, name)
		case m.sd < 1e-9:
			small = append(small, name)
		case m.sd > 1e9:
			large = append(large, name)
		}
	}
	target := momentsOf(d.Rows, func(i int) float64 { return d.Y[i] })
	switch {
	case target.sd < 1e-9:
		small = append(small, d.Target)
	case target.sd > 1e9:
		large = append(large, d.Target)
	}
	if len(constant) > 0 {
		notices = append(notices, "the same value in every row, so nothing is learnt from: "+quoted(constant, 5))
	}
	if n, row := d.repeats(); n > 0 {
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
	return notices
}

// repeats counts the rows equal to an earlier one, inputs and target, and
// returns the first of them.
func (d *Data) repeats() (count, first int) {
	// Digests as keys take 32 bytes a row however wide it is.
	seen := make(map[[sha256.Size]byte]struct{}, d.Rows)
	var row []byte
	for i := range d.Rows {
		row = appendRow(row[:0], d.X, d.Y, d.Cols, i)
		digest := sha256.Sum256(row)
		if _, ok := seen[digest]; !ok {
			seen[digest] = struct{}{}
			continue
		}
		if count == 0 {
			first = i
		}
		count++
	}
	return count, first
}
