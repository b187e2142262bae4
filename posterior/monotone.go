package posterior

import (
	"errors"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// Monotone makes a mean of f that never falls along each axis.
// A grid on the axes has Knots, and its other inputs are the row's own.
// On the grid the mean becomes the isotonic regression of the means at the knots, the monotone
// numbers with the least sum of squared differences. It is the mean itself if that is monotone.
// With two axes it is the average of regressions along the first axis and then along the second,
// and in the other order. Isotonic regression keeps the order of two lists of numbers, so that the
// second regression leaves what the first one did in order.
// Each regression is a projection on a convex set, and brings the mean nearer to every function
// that is monotone (in the mean square over the grid).
// Lin and Dunson, "Bayesian monotone regression using Gaussian process projection", Biometrika 101,
// 2014, project draws in the same way. Between knots the mean is linear on each axis, and beyond
// the ends it is constant. So it is a fixed function of what made the mean.
//
// The average of the running maximum from below and the running minimum from above, which has the
// least largest difference, is worse: RMSE 1.002 of the unchanged mean's on 30 drawn monotone
// functions (100 rows, noise .3), 1.39 at worst, where isotonic regression has .989 and 1.12.
// Sorting the means has .992 and 1.34.
type Monotone []Axis

// Axis is an input and the way along which the mean doesn't fall, from From to To in scaled units.
// From is above To if the mean doesn't rise with the input.
type Axis struct {
	Input int     `json:"input"` // number of the input, from 0
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// Knots returns the number of knots on each axis. The most axes are two:
// the number of knots is what predictions cost.
func (m Monotone) Knots() int {
	if len(m) == 1 {
		return 32
	}
	return 12
}

// grid returns the number of knots in all.
func (m Monotone) grid() int { return int(math.Pow(float64(m.Knots()), float64(len(m)))) }

// Check returns an error unless m is one or two axes of dim inputs.
func (m Monotone) Check(dim int) error {
	bad := func(a Axis) bool {
		return a.Input < 0 || a.Input >= dim || a.From == a.To ||
			!linalg.Finite([]float64{a.From, a.To, a.To - a.From})
	}
	if len(m) < 1 || len(m) > 2 || slices.ContainsFunc(m, bad) ||
		(m[0].Input == m[len(m)-1].Input && len(m) > 1) {
		return errors.New("monotone: want one or two axes, of different inputs, each with two " +
			"different ends")
	}
	return nil
}

// project writes the monotone mean at the rows of x, given what writes the mean itself.
func (m Monotone) project(x matrix.Dense, mean []float64,
	latent func(x matrix.Dense, mean []float64)) {
	// The mean is computed on a grid over the monotone inputs, with the row's own other inputs.
	const most = 1 << 13 // rows of a grid at a time
	side := m.Knots()
	all := m.grid()
	step := min(x.Rows, most/all)
	for first, end := range lists.Blocks(x.Rows, step) {
		x.Check()
		n := end - first
		at := x.Like(n*all, x.Cols)
		f := make([]float64, n*all)
		for i := range at.Rows {
			row := at.Row(i)
			knot := i % all
			copy(row, x.Row(first+i/all))
			for _, a := range m {
				row[a.Input] = a.From + (a.To-a.From)*float64(knot%side)/float64(side-1)
				knot /= side
			}
		}
		latent(at, f)
		for i := range n {
			// rising makes the grid monotone, and between interpolates it at the row.
			mean[first+i] = m.between(x.Row(first+i), rising(f[i*all:(i+1)*all], side))
		}
	}
}

// rising returns the means on a grid, whose axes have side knots, once they are monotone.
func rising(f []float64, side int) []float64 {
	if len(f) == side {
		isotonic(f, 0, 1, side)
		return f
	}
	other := slices.Clone(f)
	for k := range side {
		isotonic(f, k*side, 1, side)
		isotonic(other, k, side, side)
	}
	for k := range side {
		isotonic(f, k, side, side)
		isotonic(other, k*side, 1, side)
	}
	for i, v := range other {
		f[i] = f[i]/2 + v/2
	}
	return f
}

// isotonic puts the isotonic regression of count numbers, step apart from first on, in their place.
// It pools adjacent violators.
func isotonic(f []float64, first, step, count int) {
	type pool struct{ mean, size float64 }
	var pools []pool
	for i := range count {
		pools = append(pools, pool{f[first+i*step], 1})
		for n := len(pools); n > 1 && pools[n-2].mean > pools[n-1].mean; n-- {
			a := pools[n-2]
			b := pools[n-1]
			size := a.size + b.size
			pools = append(pools[:n-2], pool{a.mean*(a.size/size) + b.mean*(b.size/size), size})
		}
	}
	for _, p := range pools {
		for range int(p.size) {
			f[first] = p.mean
			first += step
		}
	}
}

// between interpolates the means f on the grid at a row.
func (m Monotone) between(row, f []float64) float64 {
	side := m.Knots()
	for _, a := range slices.Backward(m) { // the last axis has the slowest index
		last := float64(side - 1)
		p := max(0, min((row[a.Input]-a.From)/(a.To-a.From)*last, last))
		k := min(int(p), side-2)
		t := p - float64(k)
		stride := len(f) / side
		low := f[k*stride : (k+1)*stride]
		high := f[(k+1)*stride : (k+2)*stride]
		f = lists.To(stride, func(i int) float64 { return min(low[i]+t*(high[i]-low[i]), high[i]) })
	}
	return f[0]
}
