package krigo

import (
	"context"
	"fmt"
	"io"

	"github.com/krigo-gp/krigo/dataset"
	"github.com/krigo-gp/krigo/dataset/files"
	"github.com/krigo-gp/krigo/finding"
	"github.com/krigo-gp/krigo/internal/linalg"
	"github.com/krigo-gp/krigo/iterative"
	"github.com/krigo-gp/krigo/matrix"
	"github.com/krigo-gp/krigo/memory"
	"github.com/krigo-gp/krigo/model"
	"github.com/krigo-gp/krigo/posterior"
)

// PredictOptions say how Predict computes.
type PredictOptions struct {
	// ExactVariance solves by conjugate gradients for every row's variance, where a model of --solver cg takes it from
	// the nearest rows. Progress is told how these solves go; it may be nil.
	ExactVariance bool
	Progress      func(iteration int, residual float64)
}

// Predict predicts every row of a table, in the target's own units. The table needs the model's input columns, in any
// order; other columns are ignored. Rows of numbers need no table: see PredictAt.
func (m *Model) Predict(ctx context.Context, table *dataset.Table, o PredictOptions) (ps []model.Prediction,
	err error) {
	defer matrix.Ended(&err)
	if _, ok := m.Posterior.Solution.(*posterior.Gradients); o.ExactVariance && !ok {
		return nil, usage("exact variances are for a model of --solver cg; this one is %s", m.Posterior.Kind())
	}
	if !o.ExactVariance {
		d, err := m.Unlabelled(table.Within(ctx))
		if err != nil {
			return nil, err
		}
		return m.Model.Predict(d)
	}
	d, x, err := m.inputs(ctx, table)
	if err != nil {
		return nil, err
	}
	mean, variance := make([]float64, x.Rows), make([]float64, x.Rows)
	m.Posterior.Latent(x, mean, nil)
	solve := iterations(o.Progress)
	solve.Tolerance = 1e-4
	if err := m.Posterior.SolvedVariance(ctx, x, variance, solve); err != nil {
		return nil, err
	}
	return m.Predictions(d, mean, variance)
}

// inputs returns the rows of a table as the model sees them, and their scaled inputs as a matrix.
func (m *Model) inputs(ctx context.Context, table *dataset.Table) (d *dataset.Data, x matrix.Dense, err error) {
	if d, err = m.Unlabelled(table.Within(ctx)); err != nil {
		return nil, x, err
	}
	at, err := gather(d.Scaled(d.All(), m.Scaling))
	if err != nil {
		return nil, x, err
	}
	return d, at.X, nil
}

// iterations are those of a posterior, told to progress, which may be nil.
func iterations(progress func(iteration int, residual float64)) (o posterior.Iterative) {
	if progress != nil {
		o.Progress = func(s iterative.Progress) { progress(s.Iteration, s.Residual) }
	}
	return o
}

// PredictionFindings returns what a user should know about the rows of a table that ps predicts: categories that no
// prior row has, rows that no guarantee is about, and variances that leave the range of float64.
func (m *Model) PredictionFindings(table *dataset.Table, ps []model.Prediction) (finding.List, error) {
	found, err := m.Encoding.Unseen(table)
	if err != nil {
		return nil, err
	}
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
		found.Add(finding.OutsideRange, outside, len(ps))
	}
	if unsquared > 0 {
		found.Add(finding.VarianceLost, unsquared, len(ps))
	}
	return found, nil
}

// SampleOptions say what Sample draws.
type SampleOptions struct {
	Count    int                                   // of functions
	Seed     uint64                                // the same one gives the same draws
	Progress func(iteration int, residual float64) // of a model of --solver cg; it may be nil
}

// Sample draws functions jointly from the model's posterior and returns their values at every row of a table, row by
// row, in the target's own units: draws of f, without observation noise.
func (m *Model) Sample(ctx context.Context, table *dataset.Table, o SampleOptions) (samples [][]float64, err error) {
	defer matrix.Ended(&err)
	if o.Count < 1 {
		return nil, usage("%d samples: want at least one", o.Count)
	}
	if err := memory.Afford(fmt.Sprintf("%s: %d samples at %d rows", table.Source, o.Count, table.Rows),
		2*8*float64(o.Count)*float64(table.Rows)); err != nil {
		return nil, err
	}
	_, x, err := m.inputs(ctx, table)
	if err != nil {
		return nil, err
	}
	draws := linalg.New(x.Rows, o.Count)
	if err := m.Posterior.Sample(ctx, x, draws, posterior.Draws{Seed: o.Seed, Solve: iterations(o.Progress)}); err != nil {
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
func (m *Model) Covariance(ctx context.Context, table *dataset.Table) (cov matrix.Dense, err error) {
	defer matrix.Ended(&err)
	_, x, err := m.inputs(ctx, table)
	if err != nil {
		return matrix.Dense{}, err
	}
	if cov, err = m.Posterior.Covariance(ctx, x); err != nil {
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
func PredictionNames() []string {
	return []string{"mean", "latent_variance", "predictive_variance", "lower95", "upper95", "outside", "latent_sd",
		"predictive_sd"}
}

// WritePredictions writes predictions as CSV.
func WritePredictions(w io.Writer, ps []model.Prediction) error {
	return files.Write(w, PredictionNames(), len(ps), func(i int, values []float64) error {
		ps[i].Fill(values)
		return nil
	})
}
