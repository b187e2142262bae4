package krigo

import (
	"context"
	"fmt"
	"io"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// Prediction is a model's prediction for one row, in the target's own units.
type Prediction = model.Prediction

// Predict predicts every row of a table, which needs the model's input columns, in
// any order; other columns are ignored. Rows of numbers need no table: Model.PredictAt.
func Predict(m *Model, table *dataset.Table) ([]Prediction, error) {
	d, err := m.Unlabelled(table)
	if err != nil {
		return nil, err
	}
	return m.Predict(d)
}

// PredictionNotices returns what a user should know about the rows of a table that ps predicts: categories that no
// prior row has, rows that no guarantee is about, and variances that leave the range of float64.
func PredictionNotices(m *Model, table *dataset.Table, ps []Prediction) ([]string, error) {
	unseen, err := m.Encoding.Unseen(table)
	if err != nil {
		return nil, err
	}
	notices := unseen.Words()
	outside, unsquared := 0, 0
	for _, p := range ps {
		if p.OutOfRange() {
			unsquared++
		}
		if p.Outside > 0 {
			outside++
		}
	}
	if outside > 0 {
		notices = append(notices, fmt.Sprintf("%d of %d rows have an input outside the range of the rows that the model "+
			"was made from: no guarantee is about them", outside, len(ps)))
	}
	if unsquared > 0 {
		notices = append(notices, fmt.Sprintf("the variances of %d of %d rows leave the range of float64, so that they are "+
			"0, the largest number, or have lost digits: use latent_sd and predictive_sd, or another unit of the target",
			unsquared, len(ps)))
	}
	return notices, nil
}

// Sample draws count functions jointly from the model's posterior and returns their values at
// every row of a table, row by row, in the target's own units: draws of f, without observation
// noise. The same seed gives the same draws. Progress, of a model of --solver cg, may be nil.
func Sample(ctx context.Context, m *Model, table *dataset.Table, count int, seed uint64,
	progress func(iteration int, residual float64)) (samples [][]float64, err error) {
	defer matrix.Ended(&err)
	if count < 1 {
		return nil, usage("%d samples: want at least one", count)
	}
	if err := memory.Afford(fmt.Sprintf("%s: %d samples at %d rows", table.Source, count, table.Rows),
		2*8*float64(count)*float64(table.Rows)); err != nil {
		return nil, err
	}
	d, err := m.Unlabelled(table.Within(ctx))
	if err != nil {
		return nil, err
	}
	at, err := gather(d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return nil, err
	}
	x := at.X
	var o posterior.Iterative
	if progress != nil {
		o.Progress = func(s iterative.Progress) { progress(s.Iteration, s.Residual) }
	}
	draws := linalg.New(x.Rows, count)
	if err := m.Posterior.Sample(ctx, x, draws, seed, o); err != nil {
		return nil, err
	}
	samples = make([][]float64, x.Rows)
	for i := range samples {
		samples[i] = draws.Row(i)
		for j, v := range samples[i] {
			samples[i][j] = m.Scaling.RawMean(v)
		}
		if !linalg.Finite(samples[i]) {
			return nil, fmt.Errorf("%s: %s: the samples overflow: its inputs are too far from the training data", table.Source,
				table.Where(i))
		}
	}
	return samples, nil
}

// Covariance returns the joint covariance matrix of the function, without observation noise, at the rows of a table, in
// the target's own units squared: of models that are factored. It has a value for each pair of rows.
func Covariance(ctx context.Context, m *Model, table *dataset.Table) (cov matrix.Dense, err error) {
	defer matrix.Ended(&err)
	d, err := m.Unlabelled(table.Within(ctx))
	if err != nil {
		return matrix.Dense{}, err
	}
	at, err := gather(d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return matrix.Dense{}, err
	}
	if cov, err = m.Posterior.Covariance(ctx, at.X); err != nil {
		return matrix.Dense{}, fmt.Errorf("%s: %w", table.Source, err)
	}
	scale := m.Scaling.TargetScale
	for i := range cov.Rows {
		scaled := max(cov.At(i, i), 0)
		for j, v := range cov.Row(i) {
			cov.Row(i)[j] = v * scale * scale
		}
		if !linalg.Finite(cov.Row(i)) || cov.At(i, i) == 0 && m.Scaling.RawSD(scaled) > 0 {
			return matrix.Dense{}, fmt.Errorf("%s: %s: its covariances leave the range of float64: ask for samples, or fit "+
				"the target in another unit", table.Source, table.Where(i))
		}
	}
	return cov, nil
}

// PredictionNames are the columns of a table of predictions.
var PredictionNames = []string{"mean", "latent_variance", "predictive_variance", "lower95", "upper95", "outside",
	"latent_sd", "predictive_sd"}

// WritePredictions writes predictions as CSV.
func WritePredictions(w io.Writer, ps []Prediction) error {
	return files.Write(w, PredictionNames, len(ps), func(i int, values []float64) error {
		ps[i].Fill(values)
		return nil
	})
}
