package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Whole is the exact GP of all rows a model was made from, with the parameters that its prior rows gave it: each other row serves both to predict
// and, left out, to say how far predictions miss. Its intervals are marginal guarantees, for few rows, and no certificate: over the draw of these
// other rows and of a further one from the same source together (all exchangeable), whatever the distribution.
type Whole struct {
	m     *Model
	q     *posterior.Posterior
	first int       // the rows from here on aren't prior rows
	d     []float64 // [C⁻¹]_ii
	x     matrix.Dense
}

// maxWhole rows are more than few; the inverse of their covariance takes 200 MB.
const maxWhole = 5000

// Whole conditions a model on all rows of the data that it was made from, but those for testing.
func (m *Model) Whole(d *dataset.Data) (*Whole, error) {
	at := m.Trained()
	switch {
	case !m.fixedBefore():
		return nil, errors.New("full and jackknife intervals take parameters that prior rows alone gave: they are of an informed prior that nothing is learnt after, by an objective that trains its noise, without groups")
	case !at.Factored() || at.Sparse():
		return nil, errors.New("full and jackknife intervals are of an exact GP, solved by cholesky, which this model's isn't")
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	prior := d.RowsOf(roles, dataset.Prior)
	rows := slices.Concat(prior, d.RowsOf(roles, dataset.Calibration), d.RowsOf(roles, dataset.Certified))
	if len(rows) == len(prior) {
		return nil, errors.New("full and jackknife intervals are by rows that parameters weren't learnt on, of which this model left none: it was trained on all")
	}
	if len(rows) > maxWhole {
		return nil, fmt.Errorf("full and jackknife intervals are for few rows, at most %d: these are %d, of which conformal intervals lose little", maxWhole, len(rows))
	}
	w := &Whole{m: m, first: len(prior), x: linalg.New(len(rows), d.Cols)}
	y := make([]float64, len(rows))
	if err := d.Scaled(rows, m.Scaling).Block(0, len(rows), w.x.Data, y); err != nil {
		return nil, err
	}
	if w.q, err = posterior.NewExact(at.Kernel, at.Theta, at.Mean, at.Beta, w.x, y, m.ObservationNoise); err != nil {
		return nil, err
	}
	inverse := linalg.New(len(rows), len(rows))
	linalg.CholeskyInverse(w.q.Chol, inverse)
	for i := range rows {
		w.d = append(w.d, inverse.At(i, i))
	}
	return w, nil
}

// Ends are those of an interval, in the target's own units; infinite where too few rows are of the same kind.
type Ends struct{ Lower, Upper float64 }

// Full returns full-conformal intervals of a level for rows, in scaled units: those y that are no stranger than ⌊(1−level)(n+1)⌋ of the n other rows, each
// scored by its error as predicted from all others and y, in its standard deviations. A further target lies within with probability at
// least the level (Vovk, Gammerman and Shafer 2005, Sect. 2.3, for Gaussian-process predictions).
//
// With b = C⁻¹k, v = κ + s − kᵀb and u = y − μ, row i has the weight α_i − b_i u/v and the precision d_i + b_i²/v once (x, y) is there, y itself u/v and 1/v. So
// |α_i − b_i u/v| ≥ √(d_i/v + b_i²/v²) |u| is an interval about u = 0, since the root is larger than |b_i|/v, and no grid of y is searched.
//
// alike says which other rows, from 0, are of a row's kind, and count alone (Mondrian intervals, whose guarantee is each kind's); nil: all.
func (w *Whole) Full(x matrix.Dense, level float64, alike func(row, other int) bool) []Ends {
	return w.each(x, alike, func(at further, others []int) (below, above float64) {
		var lower, upper []float64
		for _, i := range others {
			root, slope := math.Sqrt(w.d[i]/at.v+at.b[i]*at.b[i]/(at.v*at.v)), at.b[i]/at.v
			alpha := w.q.Weights[i]
			one, other := alpha/(root+slope), -alpha/(root-slope)
			lower, upper = append(lower, math.Min(one, other)), append(upper, math.Max(one, other))
		}
		return outermost(lower, upper, level)
	})
}

// Jackknife returns jackknife+ intervals: the ⌈level·(n+1)⌉-th smallest of what the predictions without each other row, plus that row's error as so predicted,
// come to, and likewise below. A further target lies within with probability at least 2·level − 1, and about the level in practice
// (Barber, Candès, Ramdas and Tibshirani, "Predictive inference with the jackknife+", Ann. Stat. 49, 2021).
// Without row i the prediction is μ − b_i e_i, e_i = α_i/d_i.
func (w *Whole) Jackknife(x matrix.Dense, level float64, alike func(row, other int) bool) []Ends {
	return w.each(x, alike, func(at further, others []int) (below, above float64) {
		var lower, upper []float64
		for _, i := range others {
			e := w.q.Weights[i] / w.d[i]
			lower, upper = append(lower, -at.b[i]*e-math.Abs(e)), append(upper, -at.b[i]*e+math.Abs(e))
		}
		return outermost(lower, upper, level)
	})
}

// outermost are the ends of which ⌊(1−level)(n+1)⌋ lie as far out or farther, infinite where that is none.
func outermost(lower, upper []float64, level float64) (below, above float64) {
	n := len(lower)
	k := min(int(math.Floor((1-level)*float64(n+1)+1e-9)), n)
	if k < 1 {
		return math.Inf(-1), math.Inf(1)
	}
	slices.Sort(lower)
	slices.Sort(upper)
	return lower[k-1], upper[n-k]
}

// further is a row to predict: b = C⁻¹k and the variance of y.
type further struct {
	b []float64
	v float64
}

// each finds the ends of every row about its mean.
func (w *Whole) each(x matrix.Dense, alike func(row, other int) bool, ends func(at further, others []int) (below, above float64)) []Ends {
	n, rows := w.x.Rows, x.Rows
	mean, own := make([]float64, rows), make([]float64, rows)
	w.q.Latent(x, mean, nil)
	w.q.Kernel.Diag(w.q.Theta, x, own)
	all := make([]Ends, rows)
	for row := range rows {
		k := linalg.New(1, n)
		w.q.Kernel.Cov(w.q.Theta, x.RowRange(row, row+1), w.x, k)
		at := further{b: slices.Clone(k.Data), v: own[row] + w.q.Noise}
		linalg.Trsv(false, w.q.Chol, at.b)
		linalg.Trsv(true, w.q.Chol, at.b)
		at.v = math.Max(at.v-linalg.Dot(k.Data, at.b), w.q.Noise)
		var others []int
		for i := w.first; i < n; i++ {
			if alike == nil || alike(row, i-w.first) {
				others = append(others, i)
			}
		}
		below, above := ends(at, others)
		all[row] = Ends{w.raw(mean[row] + below), w.raw(mean[row] + above)}
	}
	return all
}

// raw is a target in its own units.
func (w *Whole) raw(v float64) float64 {
	if math.IsInf(v, 0) {
		return v
	}
	return w.m.Scaling.RawMean(v)
}

// Others are the inputs, in scaled units, of the rows that aren't prior rows, as Full and Jackknife number them.
func (w *Whole) Others() matrix.Dense { return w.x.RowRange(w.first, w.x.Rows) }
