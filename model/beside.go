package model

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/observation"
	"github.com/krigo-gp/krigo/ranks"
)

// context computes the Context from the sample that has just been certified.
// It returns nil if a figure overflows, and for an old model, which has no context.
func (m *Model) context(d *dataset.Data, roles dataset.Roles, at scored) (*Context, error) {
	if m.Split == ByPosition {
		return nil, nil
	}
	prior := d.RowsOf(roles, dataset.Prior)
	s := m.Scaling
	y, err := d.SortedTargets(prior)
	if err != nil {
		return nil, err
	}
	median := y[(len(y)-1)/2]/2 + y[len(y)/2]/2
	if m.Classes != nil {
		median = math.Floor(median) // a label
	}
	middle := []float64{median}
	s.Standard(middle, middle)
	mean := at.allowed(at.z, at.mean)
	// sums of |y − prediction|, of rows inside the 95 % interval, and of y − median
	var sums [3]float64
	for i, y := range at.Y {
		r := at.z[i] - m.From(mean[i], at.variance[i])
		sd := math.Sqrt(at.spreads[i].Variance)
		if at.spreads[i].Lower*sd <= r && r <= at.spreads[i].Upper*sd {
			sums[1]++
		}
		sums[0], sums[2] = sums[0]+math.Abs(y-at.Mean[i]), sums[2]+y-middle[0]
	}
	if err := d.Ranks().Sum(sums[:]); err != nil {
		return nil, err
	}
	own, err := m.baseline(d.Ranks(), at.Mean, at)
	if err != nil {
		return nil, err
	}
	variances, err := ranks.Gather(d.Ranks(), at.variance)
	if err != nil {
		return nil, err
	}
	n := float64(at.Rows)
	x := &Context{far: Farthest(variances), Rows: at.Rows, RMSE: own.RMSE,
		MAE: s.TargetScale * sums[0] / n, Coverage95: sums[1] / n, MeanRisk: own.MeanRisk}
	constant, err := m.baseline(d.Ranks(), slices.Repeat(middle, len(at.Y)), at)
	if err != nil {
		return nil, err
	}
	c := constant.RMSE / s.TargetScale
	error2 := own.RMSE / s.TargetScale
	if spread := c*c - sums[2]/n*sums[2]/n; spread > 1e-12*c*c && at.sides == nil {
		x.R2 = 1 - error2*error2/spread
	}
	if m.Exposure != "" {
		if median, constant, err = m.rate(d, prior, d.RowsOf(roles, dataset.Certified),
			at); err != nil {
			return nil, err
		}
	}
	// the constant's loss leaves [0, 1]
	if x.Constant = (Constant{median, constant}); math.IsNaN(constant.MeanBound) {
		x.Constant = Constant{}
	}
	if err := m.linear(x, d, prior, d.RowsOf(roles, dataset.Certified), at); err != nil {
		return nil, err
	}
	if at.limits() > 0 {
		of := at.Sample
		of.Mean = slices.Clone(at.Mean)
		for i, side := range at.sides {
			if side != 0 {
				of.Mean[i] = math.Inf(1)
			}
		}
		if x.Unknown.MeanRisk, x.Unknown.MeanBound, err = m.Terms.HoldOut(of); err != nil {
			return nil, err
		}
	}
	if !linalg.Finite(append(x.misses(), x.R2, median)) {
		return nil, nil
	}
	return x, nil
}

// rate returns the prior rows' targets by exposure, and what they predict of the certified rows.
func (m *Model) rate(d *dataset.Data, prior, certified []int,
	at scored) (rate float64, b Baseline, err error) {
	y, err := d.Targets(prior)
	own, err2 := d.Cells(m.Exposure, prior)
	predicted, err3 := d.Cells(m.Exposure, certified)
	if err := cmp.Or(err, err2, err3); err != nil {
		return 0, b, err
	}
	rate = linalg.Sum(y) / linalg.Sum(own)
	floats.Scale(rate, predicted)
	m.Scaling.Standard(predicted, predicted)
	b, err = m.baseline(d.Ranks(), predicted, at)
	return rate, b, err
}

// baseline computes the errors and the hold-out bound of the given predictions for the rows of a
// sample.
func (m *Model) baseline(r ranks.Ranks, predicted []float64, at scored) (b Baseline, err error) {
	squares := []float64{0}
	predicted = at.allowed(at.Y, predicted)
	for i, y := range at.Y {
		squares[0] += (y - predicted[i]) * (y - predicted[i])
	}
	if err := r.Sum(squares); err != nil {
		return b, err
	}
	b.RMSE = m.Scaling.TargetScale * math.Sqrt(squares[0]/float64(at.Rows))
	at.Mean = predicted
	if b.MeanRisk, b.MeanBound, err = m.Terms.HoldOut(at.Sample); err == nil && at.curve != nil {
		b.Curve, err = m.Terms.HoldOutCurve(at.Sample, at.curve)
	}
	return b, err
}

// mostInputs is the most inputs of a linear model that a model is compared with.
const mostInputs = 500

// linear adds to x the linear model that is fitted to the prior rows, or the reason why there is no
// linear model.
func (m *Model) linear(x *Context, d *dataset.Data, prior, certified []int, at scored) error {
	switch {
	case d.Ranks().Size() > 1:
		x.LinearReason = spreadRows
		return nil
	case d.Cols > mostInputs:
		x.LinearReason = manyInputs
		return nil
	case m.Exposure != "":
		x.LinearReason = exposures
		return nil
	}
	y, err := d.Targets(prior)
	if err != nil {
		return err
	}
	m.Scaling.Standard(y, y)
	predicted, err := line(d.Scaled(prior, m.Scaling), y, d.Scaled(certified, m.Scaling))
	if predicted == nil || err != nil {
		x.LinearReason = overflows
		return err
	}
	if x.Linear, err = m.baseline(d.Ranks(), predicted, at); math.IsNaN(x.Linear.MeanBound) {
		x.Linear = Baseline{}
	}
	return err
}

// withOnes returns x with a last column of ones.
func withOnes(x matrix.Dense) matrix.Dense {
	of := x.Like(x.Rows, x.Cols+1)
	for i := range x.Rows {
		of.Row(i)[copy(of.Row(i), x.Row(i))] = 1
	}
	return of
}

// Baselines returns the measures, by names such as mse, of two simple models on the rows on of the data
// test: of a constant, and of a linear model.
// Both learn from the given rows of the data d. A measure of nil means that there is no such model.
func (m *Model) Baselines(d *dataset.Data, rows []int, test *dataset.Data,
	on []int) (constant, linear map[string]float64, err error) {
	if m.Sited() != nil || d.Ranks().Size() > 1 {
		return nil, nil, nil
	}
	at, err := m.sample(test, on, nil)
	if err != nil {
		return nil, nil, err
	}
	y, err := d.Targets(rows)
	if err != nil {
		return nil, nil, err
	}
	m.Scaling.Standard(y, y)
	mean := linalg.Sum(y) / float64(len(y))
	constant, err = m.simple(slices.Repeat([]float64{mean}, len(at.Y)), at)
	if d.Cols > mostInputs || err != nil {
		return constant, nil, err
	}
	predicted, err := line(d.Scaled(rows, m.Scaling), y, test.Scaled(on, m.Scaling))
	if predicted == nil || err != nil {
		return constant, nil, err
	}
	linear, err = m.simple(predicted, at)
	return constant, linear, err
}

// simple returns the measures of predictions for the rows of a sample.
func (m *Model) simple(predicted []float64, at scored) (map[string]float64, error) {
	at.Mean = at.allowed(at.Y, predicted)
	squares := 0.
	for i, y := range at.Y {
		squares += (y - at.Mean[i]) * (y - at.Mean[i])
	}
	of := map[string]float64{"mse": squares / float64(len(at.Y))}
	if m.Terms.Loss.Kind.OwnSD() { // it counts sds, which these models don't have
		return of, nil
	}
	risk, err := at.PointRisk(m.Terms.Loss)
	of["mean_risk"] = risk
	return of, err
}

// line returns what a linear model that is fitted to rows with the targets y predicts of other rows,
// or nil if the fit overflows.
func line(rows *dataset.Scaled, y []float64, others *dataset.Scaled) ([]float64, error) {
	// b has a slope for each input and, last, the constant.
	b, err := leastSquares(rows, y)
	if b == nil || err != nil {
		return nil, err
	}
	n, _ := others.Dims()
	predicted := make([]float64, n)
	err = observation.EachBlock(others, func(first int, x matrix.Dense) {
		linalg.Gemv(false, 1, withOnes(x), b, 0, predicted[first:first+x.Rows])
	})
	return predicted, err
}

// leastSquares returns the coefficients of the inputs and, last, the constant.
// It returns nil if they overflow. A ridge of 1e-9 of each column's squares makes them unique if
// inputs are collinear, for example the inputs that encode categories.
func leastSquares(rows *dataset.Scaled, y []float64) ([]float64, error) {
	const ridge = 1e-9
	_, d := rows.Dims()
	gram := linalg.New(d+1, d+1)
	b := make([]float64, d+1)
	if err := observation.EachBlock(rows, func(first int, x matrix.Dense) {
		of := withOnes(x)
		linalg.SyrkLower(true, 1, of, 1, gram)
		linalg.Gemv(true, 1, of, y[first:first+x.Rows], 1, b)
	}); err != nil {
		return nil, err
	}
	for j := range b {
		gram.Set(j, j, gram.At(j, j)*(1+ridge)+0x1p-1000)
	}
	if linalg.Cholesky(gram) != nil {
		return nil, nil
	}
	linalg.CholeskySolve(gram, b)
	return b, nil
}
