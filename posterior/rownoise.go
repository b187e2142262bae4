package posterior

import (
	"math"

	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
)

// RowNoise says how noisy each row is, with the noise variance s as the unit:
// row i has the variance s·a_i + v_i. The zero value means s in all rows.
// A site of an approximate likelihood is a row whose a_i is 0 and whose v_i is the site's variance.
type RowNoise struct {
	Factor []float64 // a, at least 0; nil: 1 in all rows
	Known  []float64 // v, at least 0; nil: 0 in all rows
}

// Same says whether all rows have the same noise.
func (r RowNoise) Same() bool { return r.Factor == nil && r.Known == nil }

// Slope returns a_i, the derivative of At by s.
func (r RowNoise) Slope(i int) float64 {
	return lists.At(r.Factor, i, 1)
}

// At returns s·a_i + v_i.
func (r RowNoise) At(i int, s float64) float64 {
	if r.Factor != nil {
		s *= r.Factor[i]
	}
	if r.Known != nil {
		s += r.Known[i]
	}
	return s
}

// Each returns the variances of n rows, or nil if every one is s.
func (r RowNoise) Each(n int, s float64) []float64 {
	if r.Same() {
		return nil
	}
	return lists.To(n, func(i int) float64 { return r.At(i, s) })
}

// Pick returns the noise of the rows with the given numbers, in the given order.
func (r RowNoise) Pick(rows []int) RowNoise {
	pick := func(from []float64) (to []float64) {
		for _, row := range rows {
			if from != nil {
				to = append(to, from[row])
			}
		}
		return to
	}
	return RowNoise{pick(r.Factor), pick(r.Known)}
}

// AddNoise adds the noise to the diagonal of a covariance matrix of the rows:
// each, or s if each is nil.
func AddNoise(k matrix.Dense, s float64, each []float64) {
	if each == nil {
		k.AddDiagonal(s)
		return
	}
	for i, v := range each {
		k.Row(i)[i] += v
	}
}

// NoiseOf returns the noise variance in a row of the support.
func (p *Posterior) NoiseOf(i int) float64 {
	return lists.At(p.Noises, i, p.Noise)
}

// typical returns the noise variance, or the geometric mean of the rows' own.
func (p *Posterior) typical() float64 {
	if p.Noises == nil {
		return p.Noise
	}
	logs := lists.Sum(p.Noises, math.Log)
	return math.Exp(logs / float64(len(p.Noises)))
}
