package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/faults"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/internal/lists"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/posterior"
)

// Whole is the exact GP of all rows that a model was made from, with the parameters that the prior
// rows gave. A row that isn't a prior row serves twice.
// It helps to predict other rows, and it shows how far predictions miss if it is left out.
// The intervals are for small tables. Their guarantees are marginal, so they aren't a certificate:
// the probability is over the draw of these rows together with a further row from the same source
// (all exchangeable), for any distribution.
type Whole struct {
	m     *Model
	q     *posterior.Posterior
	c     *posterior.Exact // the solution of q
	first int              // the first row of x that isn't a prior row
	d     []float64        // [C⁻¹]_ii
	x     matrix.Dense

	// Bounds of rounding errors. solving is the bound for solving with C.
	// filling is the bound for an element of a covariance, divided by its rows' standard
	// deviations. targets is the bound for the right-hand side of the equations for α.
	solving, filling, targets float64
	trace, weights            float64 // the trace of C, and ‖α‖
}

// maxWhole is the most rows that Whole takes. The inverse of their covariance then has 200 MB.
const maxWhole = 5000

// NoWhole returns the reason why the model can't have intervals from all rows, or nil.
// rows is the number of rows.
func (m *Model) NoWhole(rows int) error {
	if m.Censored != "" {
		return errors.New("full and jackknife intervals need all targets, and some of this " +
			"model's are limits")
	}
	if !m.fixedBefore() {
		return errors.New("full and jackknife intervals need parameters from prior rows alone: " +
			"fit an informed prior, learn nothing after it, use an objective that trains its " +
			"noise, and no groups")
	}
	at := m.Trained()
	return faults.First(
		faults.If(at.Joint() != nil || at.Inducing() > 0,
			"full and jackknife intervals need an exact GP, solved by cholesky, which this "+
				"model isn't"),
		faults.If(m.Noise != "",
			"full and jackknife intervals need Gaussian noise: use conformal intervals, or "+
				"fit with --noise constant"),
		faults.If(m.Posterior.Monotone != nil,
			"full and jackknife intervals are of a GP's own mean, not of a monotone one: use "+
				"conformal intervals"),
		faults.If(m.Varying.Trains() || m.NoiseColumn != "",
			"full and jackknife intervals need one noise variance for all rows: use "+
				"conformal intervals"),
		faults.If(rows > maxWhole,
			"full and jackknife intervals are for at most %d rows, and there are %d: use "+
				"conformal intervals, which lose little with many rows", maxWhole, rows),
	)
}

// Whole conditions a model on all rows of the data that it was made from, except test rows.
func (m *Model) Whole(d *dataset.Data) (w *Whole, err error) {
	defer matrix.Ended(&err)
	if err := m.NoWhole(0); err != nil {
		return nil, err
	}
	roles, err := m.RolesOf(d)
	if err != nil {
		return nil, err
	}
	prior := d.RowsOf(roles, dataset.Prior)
	// Prior rows come first. Only the rows after them are exchangeable with further rows, since
	// prior rows trained the parameters.
	rows := slices.Concat(prior, d.RowsOf(roles, dataset.Calibration),
		d.RowsOf(roles, dataset.Certified))
	if len(rows) == len(prior) {
		return nil, errors.New("full and jackknife intervals need rows that parameters weren't " +
			"learnt on, but this model was trained on all rows")
	}
	if err := m.NoWhole(len(rows)); err != nil {
		return nil, err
	}
	at := m.Trained()
	w = &Whole{m: m, first: len(prior), x: linalg.New(len(rows), d.Cols).Until(d.Context())}
	y := make([]float64, len(rows))
	if err := d.Scaled(rows, m.Scaling).Block(0, len(rows), w.x.Data, y); err != nil {
		return nil, err
	}
	if w.q, err = posterior.NewExact(posterior.Given{Kernel: at.Kernel, Theta: at.Theta,
		Mean: at.Mean, Beta: at.Beta, Noise: m.ObservationNoise, X: w.x, Y: y}); err != nil {
		return nil, err
	}
	w.c = w.q.Solution.(*posterior.Exact)
	inverse := w.x.Like(len(rows), len(rows))
	linalg.CholeskyInverse(w.c.Chol, inverse)
	w.d = lists.To(len(rows), func(i int) float64 { return inverse.At(i, i) })
	return w, w.bound(y)
}

// bound bounds rounding errors in C⁻¹, with u = 2⁻⁵³.
// Solving by a Cholesky factor is exact for a matrix that differs from C by at most (3n+1) u tr C
// in norm (Higham, "Accuracy and stability of numerical algorithms", 2002, Theorem 10.4, with
// |L||Lᵀ|_ij ≤ √(c_ii c_jj)). An element of C is exact to (64+4D) u √(c_ii c_jj) on D inputs.
// All bounds that follow from these two are of first order and are doubled, which is enough while
// they are small compared with the noise.
func (w *Whole) bound(y []float64) error {
	const u = 0x1p-53
	n := float64(w.x.Rows)
	own := make([]float64, w.x.Rows)
	w.q.Kernel.Diag(w.q.Theta, w.x, own)
	w.trace, w.weights = linalg.Sum(own)+n*w.q.Noise, norm(w.c.W)
	w.filling = (64 + 4*float64(w.x.Cols)) * u
	w.solving, w.targets = (4*n*u+w.filling)*w.trace, 4*u*norm(y)
	if !(w.solving < w.q.Noise/16) {
		return fmt.Errorf("full and jackknife intervals: with a noise variance of %.3g rounding "+
			"may move their ends by any amount: use conformal intervals, or raise the noise",
			w.q.Noise)
	}
	return nil
}

// Ends are the ends of an interval, in the target's own units.
// They are infinite if too few rows are of the same kind.
type Ends struct{ Lower, Upper float64 }

// Full returns full-conformal intervals of a level for rows x, in scaled units.
// A y is in the interval if at least ⌊(1−level)(n+1)⌋ of the n other rows have a score no smaller
// than (x, y). The score of a row is its error, in standard deviations, as predicted from all other
// rows and (x, y). A further target lies within with probability at least the level (Vovk,
// Gammerman and Shafer 2005, Sect. 2.3, for Gaussian-process predictions).
//
// Let b = C⁻¹k, v = κ + s − kᵀb and u = y − μ.
// Once (x, y) is added, row i has the weight α_i − b_i u/v and the precision d_i + b_i²/v, and (x,
// y) itself has u/v and 1/v. So |α_i − b_i u/v| ≥ √(d_i/v + b_i²/v²) |u| holds for u in an
// interval: with e_i = α_i/d_i, from −b_i e_i − |e_i| √(d_i v + b_i²) to −b_i e_i + |e_i| √(d_i v +
// b_i²). No grid of y is searched.
//
// alike says which other rows, from 0, are of a row's kind.
// Only rows of the same kind count (Mondrian intervals, whose guarantee holds for each kind).
// If alike is nil, all rows count.
func (w *Whole) Full(x matrix.Dense, level float64, alike func(row, other int) bool) []Ends {
	return w.each(x, level, alike, func(at further, i int, bErr float64) (reach, err float64) {
		own := math.Sqrt(w.d[i] * at.v)
		return math.Hypot(own, at.b[i]), own*(w.solving/w.q.Noise+at.vErr/at.v) + bErr
	})
}

// Jackknife returns jackknife+ intervals. Each other row gives a sum:
// the prediction made without that row, plus the absolute error of that row's own prediction.
// The upper end is the ⌈level·(n+1)⌉-th smallest sum.
// The lower end is the ⌈level·(n+1)⌉-th largest difference of the same two terms.
// A further target lies within its interval with probability at least 2·level − 1, and in practice
// with about the probability level (Barber, Candès, Ramdas and Tibshirani, "Predictive inference
// with the jackknife+", Ann. Stat. 49, 2021).
// Without row i the prediction is μ − b_i e_i, e_i = α_i/d_i.
func (w *Whole) Jackknife(x matrix.Dense, level float64, alike func(row, other int) bool) []Ends {
	return w.each(x, level, alike, func(further, int, float64) (reach, err float64) { return 1, 0 })
}

// HalfWidth returns about half of a jackknife+ interval of a level, in the target's own units: the
// error that this share of the rows that aren't prior rows keep, each predicted from all other
// rows. It is infinite if there are too few such rows.
func (w *Whole) HalfWidth(level float64) float64 {
	errs := lists.To(w.x.Rows-w.first, func(i int) float64 {
		return math.Abs(w.c.W[w.first+i] / w.d[w.first+i])
	})
	_, half := outermost(slices.Clone(errs), errs, level)
	return half * w.m.Scaling.TargetScale
}

// outermost returns an interval's ends. At or beyond each end lie ⌊(1−level)(n+1)⌋ candidates.
// If this number is 0, the ends are infinite.
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

// further is a row to predict: b = C⁻¹k, and the mean and variance of y.
// A field that ends in Err bounds a rounding error.
type further struct {
	b             []float64
	bErr          float64 // bound of the error of b_i, divided by √(d_i/s)
	v, vErr       float64
	mean, meanErr float64
}

// The method of returns a further row, given its covariances k with all other rows, its predicted
// mean and its prior variance.
func (w *Whole) of(k []float64, mean, own float64) further {
	const u = 0x1p-53
	n := float64(len(k))
	s := w.q.Noise
	at := further{b: slices.Clone(k), mean: mean}
	linalg.CholeskySolve(w.c.Chol, at.b)
	at.v = math.Max(own+s-linalg.Dot(k, at.b), s)
	sizeK := norm(k)
	sizeB := norm(at.b)
	kErr := w.filling * math.Sqrt(own*w.trace)
	at.bErr = w.solving*sizeB + kErr
	at.vErr = w.solving*sizeB*sizeB + 2*sizeB*kErr + (n+4)*u*(sizeK*sizeB+own+s)
	at.meanErr = sizeB*(w.solving*w.weights+w.targets) + (kErr+(n+4)*u*sizeK)*w.weights +
		4*u*math.Abs(mean)
	return at
}

// ends returns what row i proposes for the two ends:
// mean − b_i e_i ± |e_i| reach, moved outward by twice the bound of the rounding error.
func (w *Whole) ends(at further, i int, reach func(at further, i int, bErr float64) (reach,
	err float64)) (lower, upper float64) {
	const u = 0x1p-53
	s := w.q.Noise
	d := w.d[i]
	bErr := math.Sqrt(d/s) * at.bErr
	g, gErr := reach(at, i, bErr)
	e := w.c.W[i] / d
	b := math.Abs(at.b[i])
	eErr := (w.solving*w.weights+w.targets)/math.Sqrt(d*s) + math.Abs(e)*w.solving/s
	slack := 2 * (at.meanErr + (b+g)*eErr + math.Abs(e)*(bErr+gErr) +
		4*u*(math.Abs(at.mean)+math.Abs(e)*(b+g)))
	return at.mean - at.b[i]*e - math.Abs(e)*g - slack, at.mean - at.b[i]*e + math.Abs(e)*g + slack
}

// each returns the interval of every row of x at a level, in the target's units. Row i proposes the
// ends mean − b_i e_i ± |e_i| reach, and reach returns this factor with a bound of its rounding
// error. alike, unless nil, says which other rows count for a row of x.
func (w *Whole) each(x matrix.Dense, level float64, alike func(row, other int) bool,
	reach func(at further, i int, bErr float64) (reach, err float64)) []Ends {
	mean := make([]float64, x.Rows)
	own := make([]float64, x.Rows)
	w.q.Latent(x, mean, nil)
	w.q.Kernel.Diag(w.q.Theta, x, own)
	all := make([]Ends, x.Rows)
	for row := range x.Rows {
		w.x.Check()
		k := linalg.New(1, w.x.Rows)
		w.q.Kernel.Cov(w.q.Theta, x.RowRange(row, row+1), w.x, k)
		at := w.of(k.Data, mean[row], own[row])
		var lower, upper []float64
		for i := w.first; i < w.x.Rows; i++ {
			if alike == nil || alike(row, i-w.first) {
				below, above := w.ends(at, i, reach)
				lower = append(lower, below)
				upper = append(upper, above)
			}
		}
		below, above := outermost(lower, upper, level)
		// Scaling back rounds outward, so that an interval only grows.
		if all[row] = (Ends{below, above}); linalg.Finite([]float64{below, above}) {
			all[row].Lower, all[row].Upper = w.m.Scaling.Outward(dataset.RowUnit{}, w.m.Scaling.Raw(below),
				w.m.Scaling.Raw(above))
		}
	}
	return all
}

// Others returns the inputs, in scaled units, of the rows that aren't prior rows, numbered as in
// Full and Jackknife.
func (w *Whole) Others() matrix.Dense { return w.x.RowRange(w.first, w.x.Rows) }
